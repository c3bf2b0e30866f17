package cql

// TransactionalMode is the table option transactional_mode in a CREATE TABLE statement as DESCRIBE gives it: since Cassandra 6 no table of
// system_schema has it (seen in 6.0-alpha2). It is empty where the statement does not have the option.
func TransactionalMode(create string) string {
	table, _ := First(create).(*CreateTable)
	if table == nil {
		return ""
	}
	for _, o := range table.Options {
		if o.Name == "transactional_mode" {
			return o.Text
		}
	}
	return ""
}
