package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/schema/lint"
)

// publicSchemas are the figures of schemas that were not written for this project. They were measured by hand, once,
// and stay as they were.
const publicSchemas = `
## Public schemas

The schemas and the queries of 73 public repositories were reviewed on paper by somebody who had not seen the rules, before anything was run. A
problem is found if a finding names the same table or query for the same cause. Precision counts warnings and errors: first, all that are not in
the review as false; then only those that are wrong.

| measured | recall | of errors and warnings | precision, not in the review | precision, wrong |
| --- | --- | --- | --- | --- |
| A, first, 2026-11-27 | 84 of 205 (0.41) | 70 of 157 (0.45) | 191 of 465 (0.41) | 221 of 465 (0.48) |
| A, first, with --keyspace | 106 of 205 (0.52) | 90 of 157 (0.57) | 239 of 282 (0.85) | 273 of 282 (0.97) |
| A, after the rules were corrected by it | 170 of 205 (0.83) | 139 of 157 (0.89) | 261 of 287 (0.91) | 285 of 287 (0.99) |
| B, once, 2026-11-27 | 52 of 92 (0.57) | 49 of 71 (0.69) | 139 of 153 (0.91) | 145 of 153 (0.95) |
| C, once, 2026-11-28 | 97 of 167 (0.58) | 89 of 144 (0.62) | 200 of 299 (0.67) | 228 of 299 (0.76) |
| D, once, 2026-11-29 | 82 of 162 (0.51) | 68 of 103 (0.66) | 133 of 179 (0.74) | 147 of 179 (0.82) |
| E, once, 2026-11-30 | 44 of 81 (0.54) | 36 of 59 (0.61) | 29 of 33 (0.88) | 30 of 33 (0.91) |
| F, once, 2026-11-30 | 54 of 77 (0.70) | 47 of 66 (0.71) | 47 of 56 (0.84) | 48 of 56 (0.86) |
| G, once, 2026-12-01 | 47 of 83 (0.57) | 32 of 57 (0.56) | 34 of 46 (0.74) | 37 of 46 (0.80) |

In 13 schemas of A the queries name no keyspace. Each of these queries was DN506, and no rule looked at it, unless --keyspace was given.
B was drawn before the rules were corrected by A, and C after that. The rules were corrected by what B and C missed on 2026-11-29. D was drawn and
reviewed beside that, and measured once afterwards; its second column has the problems of which the reviewer was sure. Warnings and errors alone
found 66 of 162 (0.41), and 60 of 103 (0.58). Since then DN503 says nothing of tables that are read in both orders, which were 12 of the 32 wrong.

30 of the 167 problems of C need the order of statements in the code of the service. Without them, recall was 88 of 137 (0.64), and 80 of 118
(0.68) of errors and warnings. In one schema, ALTER names the keyspace and CREATE does not. That caused 49 of the 71 wrong findings. Without
this schema, precision was 197 of 244 (0.81), or 224 of 244 (0.92).

A: MartaSamoilenko/e-commerce-platform, otaviano/braza-sso, thelastpickle/cassandra-reaper,
trellis-ldp-archive/trellis-cassandra, rudrasura/distributed_job_scheduler, kuzznya/timepicker,
garkling/distributed-databases, doanduyhai/killrchat, Mifaki/cassandra-social-app, DAVFoundation/missioncontrol,
BarisAI/distributed-cinema-reservation-cassandra, mwojtaczka/msg-box, datastax/fallout, agarwal-nitesh/Jukebox,
Sammers21/rss-reader, AlejandroB12/Art-Museum-Platform, uber-archive/cherami-server, RyanQuey/java-podcast-processor,
Karaman65/x-clone-scylla-hafta7, Netflix/conductor, klawoj/chat, mbobcik/HotelIS, tmneth/git-server-cassandra,
akka/akka-persistence-cassandra, twissandra/twissandra.

B: RobertKowalczewski/BDDS, pbjpuffs/discurd, ByPrice/geoprice-consumer, KieranBroadfoot/horae, gdusbabek/collene,
0xDjole/arky-engine, OpenNMS/newts, lero4kaa/wiki_streaming_project, hkroger/temperaturinator, scylladb/care-pet.

C: SecureSECO/SearchSECODatabaseAPI, openstack/monasca-api, IFUNMAN1358/CorporateMessenger-Spring,
Delmat237/Yowyob-ERP-Accounting-Backend, HamdanTariq26/supply-chain-pro, openzipkin/zipkin, temporalio/temporal, uber/peloton,
sindiazi/munas-property-manager, barudisshu/comic-cloud-oauth2.

D: hawkular/hawkular-metrics, exoscale/pithos, SoftwareHeritage/swh-storage, tes/seguir, tobert/f7u12, wireapp/wire-server,
leomonteiro92/mini_ledger_rust, dingzheng8866/gamefun, AkshayDawkhar/inventory, oaeproject/Hilary.

E: FS2017GeospatialDB/GeospatialDB, ShubhamSarvankar/streaming-observability-platform, Swapnil-Kapale/FrameSeek,
Abdelaziz-Merzoug/nosql_project, Divyansh031/go-user-service, DivyanshuShekhar55/go-cassandra, MacKittipat/slothsandra,
IlyaKataev/soa-hw6. TouK/ctrl-pkw and ShiSuYa/smart-warehouse were drawn too, but the rules had been corrected by them.

F: Khero001/sistemasDistribuidos, jkmcl/spring-data-cassandra-example, krovostok/Cassandra,
SamirMohamed/cme-chatting, dtl2119/directed-advertising, Sotatek-NamDuong/Ewallet, avv524/HW6_Architecture,
JakubBrzozowski97/SRDS_demo, zismano/Quikker, MatanTsach/DataEX1. The table has seven of them: authors of rules had seen files of
SamirMohamed/cme-chatting, Sotatek-NamDuong/Ewallet or avv524/HW6_Architecture. Of all ten, 78 of 109 (0.72) were found, and 61 of 70
warnings and errors (0.87) were right.

G: jacek-lewandowski/experiment, Avgona/Telegram-chat, 4-wave/reservations, deepakkumarnd/PlayFrameworkLearning,
RickSanj/Stream_Processing_Wiki, 0xAFz/pipeServer, square/metrics, jklaw90/shinfo, ShubhraJain/Pricing-Service,
bdobrica/LLMDesignedApp. Of its 59 problems of which the reviewer was sure, 36 were found. One schema
creates its tables without the keyspace that the queries name. That caused 5 of the 9 wrong findings, and 5 of the problems missed.

The rules were corrected by what D and E missed on 2026-11-30, and by these schemas, which no draw may have: LukeTillman/killrvideo-csharp,
geekychris/distributed_web_crawler, TouK/ctrl-pkw, matt-rog/librelog, JuanmaGrispo/petmatch-backend, jpsbat/iot_platform_project,
Rohithj47/EventForge, ShiSuYa/smart-warehouse, NarekAt/scaler, JosephPrichard/placement, H3199/kauppacassa, cquezadav/storestreams,
MZmuda-Trzebiatowski/cassandra_project, Jhon1840/graphql_api_votos, Anushka121/url-shortener-service, dexterpuru/Blood-Heros,
imotkin/cassandra, ryanmahan/ratdevelopment, nad-anhduy/chat-centrifugo, L968/VoteHub, mvgagliotti/reactive-kanban,
nair-ayush/CS157C-Team4, parszykm/cassandra-theatre, tompscanlan/openmeet, atruschenkov/chat, bdnr-proyecto-final/ProyectoFinal-Eqp1,
MaryBetuganova/Messenger, mati2251/ddhondt, alexey-ernest/tickydesk, hollacabs/ride-matching-microservice, Db1zz/Notify,
SMesForoush/CustomerDataPlatform, micarlise/photoShare, eric-do/social-network, apiotrowski312/isOnline-oauth-api,
HotPotatoC/pastebin-clone, Nimbus-3000/player-service, shubhamdhawane/e-cart, erikungvari/CineTrack, 6E73706C/brickprofit,
COMMENTERTHE9/Mnemo, azastashkov/distributed-email-service, sajal48/fanout_hybrid_system,
thriving-dev/social-platform-feed-reactive-cassandra, AnantSingh0121/Bank-Management-System,
Nathalie-mac/yazikochesalna, FantomCek123/NBP_movies, mazoorek/srds-project, wish/eventmaster,
silverfox-code/VoiceSphereBackend, devthedevil/cassandra-mail-store, jazware/vylet-go-mono,
Anwaribra/IoT-Fleet-Monitoring-System, annabozhkko/Messenger, dk5761/go-chat-2, Alfred-Goldenowl/go-fundraising,
Whintters/Chat4All, AldoBuzi/ReddiTrend, lifeinventory/inventory-identity, DevAgani/bookstore_oauth-api,
ruslanlesko/digestwave, nextbreakpoint/event-sourcing-cqrs-example, ekoori/TrustSphere,
PLajus/ecommerce-microservices-web, Jahsil/LogAggregator, smelnichenko/platform, NiewidzialnyCzlowiek/conference-rooms,
b4lmor/Crowdfunding, MacIT54/spring-hotel, kozy-io/listing, louisrr/starjamz, yiwen-ai/writing,
choiis/black-monitoring-watcher, GeekFlu/Remembrance, openaurae/openaurae-server, baophuc27/transport-service,
iagodvsantos/task-scheduling, Dilusha-Madushan/chat-service, Hicham-Azeroual/notifications_service,
chbatey/cassandra-customer-events, wafaebm/library-cassandra, lfp92/wishlist,
RealTimeStreaming-BachelorProject/ParcelService, abv-ps/FastAPI_shop, eshen-impl/emart, Brys49/BDDP_Cinema,
Danilx8/delivery-SHIFT, kostja/lightest, jeffreyscarpenter/reservation-service, GabeSilvaDev/fintech-bank-platform,
Aquiles-Brinco2/sushiMiau, delrisu/cassandra-trains, jphaugla/cassandra-bank-redis, HieuNM2809/xampp_htdocs_v4,
jaehyukeo/Dealership-Project, wkzawadzka/library-cassandra, kevwargo/cassandra-hotels, ZjuYTW/CS5424YugabyteDB,
13bw/Cassandra-ECommerce, max-saravia-moreira/tpo_ingenieria_datos_2, CaliOpen/gofido,
Geertdepont/ing-incident-aggregator, BladeStep/life-xp-service, WiktorSzymanski/cassandra-event-sourcing-tickets-api,
gjuljo/cassandra-event-store, gs-chaitanya/daedalus-job-scheduler, IgorPerikov/hollow-workaround, chriswhsu/cassa,
pyr/cyanite, steve859/job_scheduler, shukla2009/video-analytics, KrishnaSathvik/vehicle-telemetry-pipeline,
MjMoshiri/log-lyfe, janforp/iam-repo, hiendo/tsa, BranislavLazic/akka-cqrs-activator, Dai-Nguyen1506/stock-tracker,
albertchanged/netflix-content, hxmn/cassandra_game_backend.
`

// TestDocs keeps the page on the rules what the rules and their corpus say.
func TestDocs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Lint rules

Written by ` + "`go test ./schema/lint -update`" + ` from the rules and from the schemas they are tested with.

A finding is accepted with a reason: ` + "`-- denorm:ignore DN101 orders_by_status few orders a day`" + ` in a CQL file,
` + "`schema.Accept`" + ` in Go, or ` + "`denorm:ignore DN101 few orders a day`" + ` in the comment of a live table. What a rule guesses from
names and types is better said: ` + "`-- denorm:entity`, `-- denorm:domain` and `-- denorm:volume`" + `, see package
[schema](../../schema/parse.go).

The numbers of a ` + "`-- denorm:volume`" + ` note have limits: ` + "`rows` is above 0, `largest` is 1 or more, `filled` is from 0 to 1 (or to 100%)" + `, and
no other one is negative. A time is in seconds, minutes, hours, days, weeks, months or years, as in ` + "`rows=2000/year` and `window=7days`" + `. A note
with any other number is a finding of DN508, and says nothing of the table.

An error loses rows, is rejected, or takes nodes down as the table grows. A warning works while the table is small, or
costs more than it seems.

The last column is of the schemas in [testdata/reviewed](../../schema/lint/testdata/reviewed), whose findings were written by reviewers who had not
seen the rules (` + "`TestReviewed`" + `). Notes that reviewers do not have count as nothing. The rules have been corrected by these schemas since, so the
column says little of yours. This does: of the schemas 191 to 250 the rules had found, before that, 67 of 85 findings, and 10 that the reviewer
did not have (recall 0.79, precision 0.87); of 251 to 300, with what had been learnt, 67 of 72, and 11 (0.93, 0.86).

| code | rule | severity | reviewers' findings |
| --- | --- | --- | --- |
`)
	_, rules := reviewed(t)
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "| %s | [%s](#%[2]s) | %s | %v |\n", r.Code, r.Name, r.Severity, tallied(rules[r.Code]))
	}
	fmt.Fprintf(&b, "| | all | | %v |\n", rules[""])
	b.WriteString(publicSchemas)
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "\n## %s\n\n`%s`, %s. %s\n", r.Name, r.Code, r.Severity, r.Doc)
		for _, e := range []struct{ kind, says string }{{"fires", "Found in"}, {"near", "Not in"}} {
			text, err := os.ReadFile(filepath.Join("testdata/corpus", r.Code+"_"+e.kind+".cql"))
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				if !strings.HasPrefix(l, "-- want ") {
					lines = append(lines, excerpt(l))
				}
			}
			if n := len(lines) - 60; n > 0 {
				lines = append(lines[:4], fmt.Sprintf("-- and %d lines more like these", n+56))
			}
			fmt.Fprintf(&b, "\n%s\n\n```sql\n%s\n```\n", e.says, strings.Join(lines, "\n"))
		}
	}
	golden.Check(t, "../../../docs/ref/lint.md", b.String())
}

// excerpt is a line that may be long, without its middle.
func excerpt(line string) string {
	if len(line) < 300 {
		return line
	}
	return line[:100] + " ... " + line[len(line)-60:]
}

// tallied is a tally for a table; empty if no reviewer had something to say.
func tallied(t *tally) string {
	if *t == (tally{}) {
		return ""
	}
	return t.String()
}
