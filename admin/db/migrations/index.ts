import type { MigrationObject } from '@mikro-orm/core';
import { FirstSlice } from './0001-first-slice.ts';
import { Revisions } from './0002-revisions.ts';
import { AuditChain } from './0003-audit-chain.ts';
import { Identity } from './0004-identity.ts';
import { Tenancy } from './0005-tenancy.ts';
import { ApiKeysComplete } from './0006-api-keys.ts';
import { IntegrationsComplete } from './0007-integrations.ts';
import { FilesBatchesJobs } from './0008-files-batches-jobs.ts';
import { Limits } from './0010-limits.ts';
import { ExactSettlement } from './0016-exact-settlement.ts';
import { NanoUsd } from './202611220640-nano-usd.ts';
import { RejectUnmetered } from './202611220722-reject-unmetered.ts';
import { KeyChecks } from './202611220735-key-checks.ts';
import { RateLeases } from './202611220801-rate-leases.ts';
import { StartHooks } from './202611222010-start-hooks.ts';
import { LedgerEntries } from './202611222340-ledger-entries.ts';
import { StoredObjects } from './202611230615-stored-objects.ts';
import { ObjectsInFlight } from './202611230651-objects-in-flight.ts';
import { PlainEmailDomains } from './202611271800-plain-email-domains.ts';
import { OneIndexOfCrossedBudgets } from './202611272115-one-index-of-crossed-budgets.ts';
import { KeptKeys } from './202611300150-kept-keys.ts';
import { Mails } from './202611301110-mails.ts';

/**
 * Migrations of tables that several resources or no resource share. Migrations of one resource are in its folder. A list instead of a
 * folder scan, so that the program can be bundled.
 */
export const sharedMigrations: readonly MigrationObject[] = [
  { name: '0001-first-slice', class: FirstSlice },
  { name: '0002-revisions', class: Revisions },
  { name: '0003-audit-chain', class: AuditChain },
  { name: '0004-identity', class: Identity },
  { name: '0005-tenancy', class: Tenancy },
  { name: '0006-api-keys', class: ApiKeysComplete },
  { name: '0007-integrations', class: IntegrationsComplete },
  { name: '0008-files-batches-jobs', class: FilesBatchesJobs },
  { name: '0010-limits', class: Limits },
  { name: '0016-exact-settlement', class: ExactSettlement },
  { name: '202611220640-nano-usd', class: NanoUsd },
  { name: '202611220722-reject-unmetered', class: RejectUnmetered },
  { name: '202611220735-key-checks', class: KeyChecks },
  { name: '202611220801-rate-leases', class: RateLeases },
  { name: '202611222010-start-hooks', class: StartHooks },
  { name: '202611222340-ledger-entries', class: LedgerEntries },
  { name: '202611230615-stored-objects', class: StoredObjects },
  { name: '202611230651-objects-in-flight', class: ObjectsInFlight },
  { name: '202611271800-plain-email-domains', class: PlainEmailDomains },
  { name: '202611272115-one-index-of-crossed-budgets', class: OneIndexOfCrossedBudgets },
  { name: '202611300150-kept-keys', class: KeptKeys },
  { name: '202611301110-mails', class: Mails },
];
