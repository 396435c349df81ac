import { Migration } from '@mikro-orm/migrations';

/** Ids of accepted SAML assertions, so that each is accepted once. */
export class SamlAssertions extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table saml_assertions (
    connection_id uuid not null references sso_connections on delete cascade,
    assertion_hash text not null,
    organisation_id uuid not null references organisations,
    expires_at timestamptz not null,
    primary key (connection_id, assertion_hash)
  )`,
  'create index saml_assertions_by_end on saml_assertions (expires_at)',
];
