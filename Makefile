# Two commands start on a fresh machine: make demo, make test. Needed: Go, make, git; a container engine, or on
# Debian-like machines root, or a JDK 11 or 17 and Maven. Without these make demo shows a model of Cassandra, and says so.

.DEFAULT_GOAL := help
LINT := bin/golangci-lint
CLUSTER := cd integration && go build -o ../bin/ ./cmd/cluster && ../bin/cluster

.PHONY: help
help: ## show this help
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## bring a real Cassandra up, write orders through the library, show what happens; ARGS=-in-process does without
	@cd integration && go build -o ../bin/ ./cmd/demo && ../bin/demo $(ARGS)

.PHONY: test
test: unit integration faults ## unit tests, tests on three nodes, short faults; 10 to 15 minutes on two cores

.PHONY: proofs
proofs: platforms drivers race randomised planted ## what takes longer: other platforms, the fork of the driver, the race detector, planted bugs, all faults, two datacentres, an upgrade of Cassandra; 40 minutes
	@$(MAKE) integration RACE=-race SKIP=
	@$(MAKE) faults FAULTS=Node
	@$(MAKE) regions
	@$(MAKE) upgrade

.PHONY: planted
planted: ## tests that find planted bugs, one build for each bug
	cd integration && go test -tags planted -count=1 -timeout 1h -run '^TestPlanted' ./load/simulation
	DENORM_TEST_LENGTH=1 go test -tags planted -count=1 -p 1 -timeout 1h -run '^TestPlanted' ./reconcile ./internal/cassandra/transcript

.PHONY: randomised
randomised: ## randomised tests at full length; make unit tries a twentieth of their cases
	DENORM_TEST_LENGTH=1 go test -count=1 -timeout 30m $(RANDOMISED)
RANDOMISED = $$(grep -rl --include='*_test.go' --exclude-dir=integration --exclude-dir=bin '\blength\.Of(' . | xargs -n 1 dirname | sort -u)

.PHONY: drivers
# Left out are tests of what the fork does in another way, which docs/why/driver.md lists, those that open sessions with faults (session, internal/hosts) and the
# in-process Cassandra's own, all of which are about gocql 1.7.
drivers: ## the library and its tests with the fork of gocql by ScyllaDB; what does not compile with version 2; bugs of drivers that the library works around: docs/why/driver.md
	internal/tools/scylladb.sh -timeout 20m -skip '$(OTHERWISE)' ./writer ./reader ./retry ./schema/... ./tracing ./internal/request ./internal/pace \
		./internal/driver/... ./internal/cqltype ./internal/layout ./internal/entity ./internal/fanout ./internal/decide/... ./internal/cassandra/catalog ./internal/testutil/suite
	internal/tools/v2.sh
	cd internal/tools/driverbugs && go test -count=1 ./...
OTHERWISE = ^(TestWireRefused|TestWireConnectionEndsUnknown|TestWireClosedConnections|TestWireOutage|TestRefusals|TestLevels|TestDecodedErrorsAreGocqls|TestEnsureCanceled)$$|^TestClassify$$/^unknown_error_code$$|^TestSystems$$/^(types|pairs)$$

.PHONY: long
long: simulation reconcileproofs soak bulkproofs temporalproofs accord cassandra6 tombstones ## all loads at full length, all tests on 4.1 and 6: by hand and every night; figures go into docs/ and bin/
	@$(MAKE) integration CASSANDRA_VERSION=4.1 SKIP=
	@$(MAKE) regions ARGS="-rounds 1000 -figures $(CURDIR)/docs/figures/regions.md"

LONGEST = ./reconcile ./writer # they begin first

.PHONY: unit
unit: ## unit tests, and a simulation of 10,000 writes
	go test -timeout 20m $(LONGEST) ./...
	cd integration && GOGC=800 go test -count=1 ./load/simulation
	cd reconcile/temporal && go test ./...

.PHONY: race
# On two processors the race detector of Go 1.26 crashes where timers of one bubble of testing/synctest fire on both
# (golang.org/issue/78156): so -cpu 1.
race: compiler ## unit tests with the race detector
	go test -race -cpu 1 -timeout 1h $(LONGEST) ./...
	cd reconcile/temporal && go test -race -cpu 1 ./...

FUZZTIME = 1m

.PHONY: fuzz
fuzz: ## each fuzz test of all modules for FUZZTIME, 1m; what fails is left in testdata/fuzz of its package, to be committed with the fix
	@failed=none; found=$$(grep -rl --include='*_test.go' --exclude-dir=bin '^func Fuzz' .) || exit 1; for file in $$found; do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do echo "$$(dirname $$file) $$name"; \
			(cd $$(dirname $$file) && go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) .) || failed="$${failed#none} $$name"; \
		done; done; [ "$$failed" = none ] || { echo "failed:$$failed"; exit 1; }

# Jaeger is built while the first tests wait for nodes; suite/traces needs it.
# SKIP names the tests that only make proofs runs. Two packages run at a time, in keyspaces of their own: mostly they wait for nodes.
# Those of the second line build the modules as somebody who installs them.
SKIP = ^(TestGenerated|TestSystemsRoundTrip|TestNewTable|TestImportIsKilled|TestConsumersAreKilled|TestAdoptContendedOrders|$(LOADS)|$(INSTALLED))$$
LOADS = TestOneRow|TestShopUnderLoad|TestChat|TestVisibility
INSTALLED = TestInstall|TestInstallTemporal|TestMount|TestServiceIsBuiltWithoutTheCommand|TestCassandratestAlone
RACE =

.PHONY: integration
integration: $(if $(RACE),compiler) ## tests on three real Cassandra nodes, which are started for them unless they run already
	@cd integration && go build -o ../bin/ ./cmd/cluster
	@(cd integration && exec nice ../bin/cluster jaeger -build) & built=$$!; $(CLUSTER) run -nodes 3 -volatile -- sh -c "go test $(RACE) -count=1 -p 2 -timeout 30m -skip '$(SKIP)' $$(go list ./suite/systems ./suite/install ./load/orderservice ./... | grep -v /simulation | tr '\n' ' ') && cd ../examples/kafka && go test $(RACE) -count=1 -skip '$(SKIP)' ./..." || { kill $$built 2>/dev/null; exit 1; }; wait $$built

# make proofs has all: also the tutorial, a node away from reads and from hot orders, one killed under creates and changes, the soak, and a repair whose
# process is killed.
FAULTS = NodeStopped|NodeStopsBetween|NodeSilent

.PHONY: faults
faults: ## tests that stop nodes under load, on local nodes; make faults FAULTS=Node ARGS=-long for all of them at full length
	@export DENORM_MODE=jvm; $(CLUSTER) run -nodes 3 -- sh -c "$(FAULTS_OF) ./suite/reading ./suite/schema ./suite/tutorial && $(FAULTS_OF) ./orderservice ./load/hot ./load/contended ./load/outage ./load/soak ./load/drift $(ARGS)"
FAULTS_OF = go test -tags faults -count=1 -p 1 -timeout 30m -v -run '$(FAULTS)'

.PHONY: regions
regions: ## two datacentres of three nodes each: both write, one is lost and comes back; ARGS="-rounds 1000 -figures file"
	@export DENORM_MODE=jvm; $(CLUSTER) run -nodes 6 -volatile -- go test -tags regions -count=1 -timeout 30m -v ./suite/regions $(ARGS)

.PHONY: upgrade
upgrade: ## three nodes of Cassandra 4.1 become nodes of 5.0, one by one, while services write and read
	@export CASSANDRA_VERSION=4.1 DENORM_MODE=jvm; $(CLUSTER) run -nodes 3 -- go test -tags upgrade -count=1 -timeout 30m -v ./suite/upgrade

.PHONY: soak
soak: ## services, nodes and schema under faults for ten minutes (bin/soak.md; SEED=n repeats one), then all other loads at full length
	@export DENORM_MODE=jvm; $(CLUSTER) run -nodes 3 -- go test -tags faults -count=1 -timeout 1h -v -run Node ./load/soak -long -seed $(or $(SEED),0) -figures $(CURDIR)/bin/soak.md
	@export DENORM_MODE=jvm; $(CLUSTER) run -nodes 3 -- go test -tags faults -count=1 -timeout 1h -v ./load/hot -long -figures $(CURDIR)/bin/hot-orders.md
	@export DENORM_MODE=jvm; $(CLUSTER) run -nodes 3 -- go test -tags faults -count=1 -p 1 -timeout 1h -v -run Node ./orderservice ./load/outage -long
	@export DENORM_MODE=jvm; $(CLUSTER) run -nodes 3 -heap 2G -- go test -tags faults -count=1 -timeout 2h -v -run Node ./load/drift -long -figures $(CURDIR)/docs/figures/reconcile-drift.md
	@$(CLUSTER) run -nodes 3 -- go test -count=1 -timeout 1h -v -run Differential ./load/differential -long

.PHONY: accord
accord: ## Transactional sets on three nodes of Cassandra 6: readers, hot orders and addresses while nodes are away; ARGS=-load=5m
	@export CASSANDRA_VERSION=6 DENORM_MODE=jvm; $(CLUSTER) run -nodes 3 -heap 2G -- go test -tags accord -count=1 -timeout 1h -v ./suite/accord $(ARGS)

.PHONY: cassandra6
cassandra6: ## the tests of make integration, also those of SKIP, on three nodes of Cassandra 6
	@cd integration && go run ./cmd/cluster jaeger -build
	@export CASSANDRA_VERSION=6 DENORM_MODE=jvm; $(CLUSTER) run -nodes 3 -heap 2G -volatile -- sh -c "go test -count=1 -p 2 -timeout 1h \
		$$(go list ./... | grep -v /simulation | tr '\n' ' ') && cd ../examples/kafka && go test -count=1 ./..."

# All tests: make integration CASSANDRA_VERSION=4.1 SKIP=. What a version lacks is in integration/harness/cluster/differs.go.
.PHONY: cassandra4
cassandra4: ## on three nodes of Cassandra 4.1, the tests that a version could break: systems, schema, reads, routing, TLS, orders, load
	@export CASSANDRA_VERSION=4.1; $(CLUSTER) run -nodes 3 -volatile -- go test -count=1 -p 2 -timeout 20m -skip '$(SKIP)' \
		./suite/systems ./suite/schema ./suite/reading ./suite/routing ./suite/security ./orderservice ./load/contended

.PHONY: bulkproofs
bulkproofs: ## 1,000,000 changes of an import that is killed ten times; 200,000 records of a topic, three consumers killed; an hour
	@$(CLUSTER) run -nodes 3 -volatile -- sh -c "go test -count=1 -timeout 3h -v -run TestImportIsKilled ./load/bulk -changes 1000000 -kills 10 && \
		cd ../examples/kafka && go test -count=1 -timeout 1h -v ./... -records 200000"

.PHONY: temporalproofs
temporalproofs: ## runs on a real Temporal: 1,000,000 orders on three workers, one killed, one stopped, the server restarted; 100,000 ranges; hours
	cd integration && go test -tags faults -count=1 -timeout 1h -v ./harness/temporal # it builds the server first
	@export DENORM_MODE=jvm; $(CLUSTER) run -nodes 3 -heap 2G -- sh -c "cd ../examples/temporal && \
		go test -tags faults -count=1 -timeout 6h -v -run TestThreeWorkers . -orders 1000000"
	cd examples/temporal && go test -tags faults -count=1 -timeout 3h -v -run 'TestManySegments|TestHistories' . -segments 100000

.PHONY: simulation
simulation: ## 1,000,000 logical writes with faults of every kind in virtual time, into docs/figures/simulation.md; twenty minutes; SEED=n is the first world
	cd integration && GOGC=800 go test -count=1 -timeout 1h -v -run TestSimulation ./load/simulation -writes 1000000 -seed $(or $(SEED),1) \
		-out $(CURDIR)/docs/figures/simulation.md

.PHONY: reconcileproofs
reconcileproofs: ## repairs next to writers, 1,000,000 cases and 200,000 writes, and killed at every step; SEED=n
	DENORM_TEST_LENGTH=10 $(PROOF) -run '(Liveness|^TestRepairCells|^TestRepairKeepsTimesOfColumns)$$' ./internal/repair -convergence.seed $(or $(SEED),1)
	DENORM_TEST_LENGTH=50 $(PROOF) -run '^TestRepair(Safety|Moved)$$' ./internal/repair -convergence.seed $(or $(SEED),1)
	DENORM_TEST_LENGTH=2 $(PROOF) -run '^TestRepairVersioned$$' ./internal/decide/versioned -versioned.seed $(or $(SEED),1)
	for n in $$(seq 0 49); do \
		$(PROOF) -run '^TestRandom$$' ./reconcile -reconcile.acked 4000 -reconcile.seed $$(($(or $(SEED),1) + 100 * n)) || exit 1; done
	$(PROOF) -run '^Test(FrozenBeyondLease|WrittenAtEveryStep|KilledAtEveryStep)$$' ./reconcile -reconcile.killed
PROOF = go test -count=1 -timeout 3h -v

.PHONY: compiler
compiler:
	@internal/tools/compiler.sh

.PHONY: lint
lint: $(LINT) tidy ## linters of .golangci.yml, over all modules; go.mod of each
	$(LINT) run ./...
	cd integration && ../$(LINT) run ./...
	cd examples/kafka && ../../$(LINT) run ./...
	cd reconcile/temporal && ../../$(LINT) run ./...
	cd examples/temporal && ../../$(LINT) run ./...
	cd internal/tools/driverbugs && ../../../$(LINT) run ./...

.PHONY: tidy
tidy: ## go.mod and go.sum of each module are what go mod tidy makes of them
	@for m in $$(find . -name go.mod -not -path './bin/*'); do (cd $$(dirname $$m) && go mod tidy -diff) || { echo "$$m: run go mod tidy"; exit 1; }; done

.PHONY: rules
rules: ## alert rules and dashboard of docs/operations; needs promtool, and says where it comes from
	@internal/tools/rules.sh

SITE := bin/sitetools

.PHONY: site
site: $(SITE)/installed ## README.md and docs/ as a site, bin/site/index.html, by mkdocs in a virtual environment; needs Python 3.11 or newer
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict -f internal/tools/site/mkdocs.yml

$(SITE)/installed: internal/tools/site/requirements.txt
	python3 -m venv --clear $(SITE)
	$(SITE)/bin/pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

.PHONY: vulnerabilities
vulnerabilities: ## vulnerabilities of the database vuln.go.dev in what the library, the command, reconcile/temporal and examples/kafka call
	go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...
	cd examples/kafka && go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...
	cd reconcile/temporal && go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

.PHONY: release-dry
release-dry: ## make a release in a clean clone, print its notes, and go get and go install it as a stranger; VERSION=v0.1.0
	@internal/tools/dryrelease.sh '$(or $(VERSION),v0.1.0)'

PLATFORMS := linux/386 linux/arm linux/arm64 windows/amd64 darwin/arm64

.PHONY: platforms
platforms: ## the types of the library, its tests and the command, as compilers for other platforms check them
	cd internal/tools && go build -o ../../bin/ ./platforms
	bin/platforms $(PLATFORMS)

$(LINT): internal/tools/go.mod internal/tools/go.sum
	cd internal/tools && go build -o ../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $(LINT)

BENCH_OF = cd integration && go build -o ../bin/ ./cmd/cluster ./cmd/bench && ../bin/cluster run

.PHONY: bench
bench: ## createOrder and changes compared with hand-written code on three nodes, into docs/figures/; twenty minutes
	go test -run '^$$' -bench . -benchmem ./tables/ ./writer/ ./retry/ ./internal/request/ ./tracing/ ./internal/hosts/
	@export DENORM_MODE=jvm; $(BENCH_OF) -nodes 3 -heap 1G -- sh -c "../bin/bench create -out ../docs/figures && \
		../bin/bench changes -out ../docs/figures && ../bin/bench charts -out ../docs/figures"

.PHONY: compare
compare: ## client CPU, latencies and allocations of the working tree compared with the commit BASE, side by side; six minutes
	@$(BENCH_OF) -nodes 1 -heap 1G -- ../bin/bench compare -base '$(BASE)' $(ARGS)

.PHONY: benchgate
benchgate: ## allocations and client CPU without nodes, compared with BASE or the commit before; ARGS=-update after a change of allocations
	@cd integration && go build -o ../bin/ ./cmd/bench && ../bin/bench gate -base '$(BASE)' $(ARGS)

.PHONY: tombstones
tombstones: ## what moved rows cost those who read: LIMIT 20 of each status after 200,000 changes, into docs/figures/; half an hour
	@export DENORM_MODE=jvm; $(BENCH_OF) -nodes 3 -- ../bin/bench tombstones -out ../docs/figures

.PHONY: up
up: ## start three Cassandra nodes and leave them running
	@$(CLUSTER) up -nodes 3

.PHONY: down
down: ## stop them
	@$(CLUSTER) down

.PHONY: jaeger
jaeger: ## run a real Jaeger until Ctrl-C, built from source if need be, for the traces of make demo
	@$(CLUSTER) jaeger

.PHONY: status
status: ## say what runs
	@$(CLUSTER) status
