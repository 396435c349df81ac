import { Migration } from '@mikro-orm/migrations';

/** Second factors of users, their recovery codes, and sign-ins that wait for a second factor. */
export class SecondFactors extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table second_factors (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    user_id uuid not null references users on delete cascade,
    kind text not null check (kind in ('totp', 'webauthn')),
    name text not null,
    secret text,
    last_step bigint,
    failures integer not null default 0,
    failures_since timestamptz,
    credential_id text,
    public_key text,
    sign_count bigint not null default 0,
    transports jsonb,
    challenge text,
    created_at timestamptz not null,
    confirmed_at timestamptz,
    last_used_at timestamptz
  )`,
  'create index second_factors_by_user on second_factors (user_id)',
  'create unique index second_factors_credential on second_factors (organisation_id, credential_id)',
  "create unique index second_factors_one_app on second_factors (user_id) where kind = 'totp' and confirmed_at is not null",
  `create table recovery_codes (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    user_id uuid not null references users on delete cascade,
    code_hash text not null,
    created_at timestamptz not null
  )`,
  'create index recovery_codes_by_user on recovery_codes (user_id)',
  `create table pending_sign_ins (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    user_id uuid not null references users on delete cascade,
    token_hash text not null unique,
    enrols boolean not null,
    challenge text,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  'create index pending_sign_ins_by_user on pending_sign_ins (user_id)',
];
