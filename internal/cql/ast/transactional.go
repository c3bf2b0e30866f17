package ast

// TransactionalMode are the table options transactional_mode and transactional_migration_from in a CREATE TABLE statement as DESCRIBE gives it:
// no table of system_schema has them (seen in Cassandra 6.0-alpha2). They are empty where the statement does not have them.
func TransactionalMode(create string) (mode, from string) {
	table, _ := First(create).(*CreateTable)
	if table == nil {
		return "", ""
	}
	for _, o := range table.Options {
		switch o.Name {
		case "transactional_mode":
			mode = o.Text
		case "transactional_migration_from":
			from = o.Text
		}
	}
	return mode, from
}
