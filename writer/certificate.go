package writer

import "github.com/gocql/gocql"

// verified returns options under which the certificates of nodes are verified, chain and name, unless the caller has
// said otherwise in so many words: with Config.InsecureSkipVerify. Without a Config gocql verifies nothing at all, even
// where CaPath names an authority, and whoever is on the way to a node can take the password in its place.
func verified(options *gocql.SslOptions) *gocql.SslOptions {
	if options == nil || options.Config != nil || options.EnableHostVerification {
		return options
	}
	changed := *options // the caller may use it elsewhere
	changed.EnableHostVerification = true
	return &changed
}
