import type { Settings } from '../../config/settings.ts';
import type { Clock, Log } from '../../core/contract/plugin/plugin.ts';
import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import type { DocumentKind } from '../../core/contract/protocol/documents.ts';
import type { DocumentReply } from '../../core/contract/protocol/internal-api.ts';
import type { ChangeNotice } from '../../core/contract/protocol/notices/change-notice.ts';
import type { RecordContent } from '../../core/contract/protocol/record-contents.ts';
import type { ProxyRules } from '../../core/contract/values/addresses/client-origin.ts';
import type { BackgroundWork } from '../background-work.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { Dependents } from '../publish/dependents.ts';
import type { Vault } from '../secrets/vault.ts';
import type { AnonymousEntries } from './anonymous-entries.ts';
import type { Actor } from './caller/actor.ts';
import type { AttemptLimit } from './caller/attempt-limit.ts';
import type { Callers } from './caller/callers.ts';
import type { RateLimit } from './caller/rate-limit.ts';
import type { LogRejection } from './log-rejection.ts';

interface Readiness {
  /** Reasons why the control plane cannot serve now. Empty when it is ready. */
  readonly reasons: readonly { readonly dependency: string; readonly message: string }[];
  /** Failures that a load balancer should not react to, because a part of the requests still works. */
  readonly warnings: readonly string[];
}

export interface AdminServices {
  readonly callers: Callers;
  readonly settings: Settings;
  readonly log: Log;
  readonly logRejection: LogRejection;
  /** Shown by /ready: no address or secret. */
  readiness(): Promise<Readiness>;
  /** Returns the numbers of gateways that report in time and that do not. Rejects if the database is unreachable. */
  instances(): Promise<{ readonly healthy: number; readonly unhealthy: number }>;
  readonly database: Database;
  readonly vault: Vault;
  /** The store that OBJECT_STORE names; null if it is unset. */
  readonly objects: ObjectStore | null;
  /** The database that ANALYTICS_URL names; null if it is unset. */
  readonly clickhouse: ClickHouse | null;
  /** Reads a document in the form that gateways receive. */
  readonly readDocument: (kind: DocumentKind, id: string) => Promise<DocumentReply>;
  /** Stores request records, each once: prices them, settles them against budgets, and adds them to roll-ups. */
  readonly storeRecords: (
    records: readonly RequestRecord[],
    json?: string,
    /** Runs in the transaction of the records before they are stored. Its error is thrown, and nothing is stored. */
    begin?: (tx: EntityManager) => Promise<void>,
  ) => Promise<{ readonly inserted: number; readonly duplicates: number; readonly refused: readonly string[] }>;
  /** Adds headers and bodies to the spans of their requests, if settings say so. */
  readonly exportContents: (contents: readonly RecordContent[]) => void;
  /** Rows of all resources that belong to a workspace or user. */
  readonly dependents: Dependents;
  readonly apiKeyPepper: Uint8Array;
  /** Source of the time; tests can freeze it. */
  readonly clock: Clock;
  readonly mailer: Mailer;
  readonly background: BackgroundWork;
  /** Returns the TXT records of a name, each in chunks. Rejects with the code of the DNS error. */
  readonly resolveTxt: (name: string) => Promise<readonly (readonly string[])[]>;
  /** Limit of sign-in attempts. */
  readonly attempts: AttemptLimit;
  /** Key of the hashes of the audit chain. */
  readonly auditKey: Uint8Array;
  /** Proxies in front of the control plane whose headers about clients are trusted; null: none. */
  readonly proxies: ProxyRules | null;
  readonly limits: { readonly perKey: RateLimit; readonly perAddress: RateLimit };
  readonly anonymousEntries: AnonymousEntries;
  /** If true (tests), a reply that differs from its schema is an error. If false, unknown fields are removed. */
  readonly strictReplies: boolean;
  /** For tests: time limit of admin requests in milliseconds. Null: that of the route. */
  readonly requestDeadlineMs: number | null;
  /** Adds events about a write in its transaction. Returns true if it added jobs. */
  readonly announceWrite: (tx: EntityManager, write: Write) => Promise<boolean>;
  /** Call after a commit that added a job. */
  readonly wakeJobs: () => void;
  /** Call after a commit: publishes these changes, or all waiting outbox events if none are passed. */
  readonly wakeRelay: (notices?: readonly ChangeNotice[]) => void;
}

/** An item of a workspace that a request has created, changed or deleted. */
export interface Write {
  readonly actor: Pick<Actor, 'organisationId' | 'userId' | 'keyId'>;
  readonly resource: string;
  readonly action: string;
  readonly item: { readonly id: string; readonly slug?: string | null | undefined; readonly workspaceId: string };
}
