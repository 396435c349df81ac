import type { GatewayTasks } from '../../workers/gateway-tasks.ts';
import type { RunningCircuits } from '../circuits/start-circuits.ts';
import type { BodyMemory } from '../contract/values/bodies/body-memory.ts';
import type { DocumentStore } from '../documents/document-store.ts';
import type { HttpServer } from '../http/server.ts';
import type { ContentQueue } from '../journal/content-queue.ts';
import type { RunningJournal } from '../journal/start-journal.ts';
import type { LeaseClient } from '../leases/start-leases.ts';
import type { RetryBudget } from '../pipeline/attempt/retry-budget.ts';
import type { OpenSessions } from '../realtime/sessions.ts';
import type { RunningSecretManagers } from '../secret-managers/secret-managers.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ComposedMcp } from './compose-mcp.ts';

/** The parts of a gateway process whose counts become gauges. */
export interface Counted {
  readonly server: HttpServer;
  readonly memory: BodyMemory;
  readonly sessions: OpenSessions;
  readonly journal: RunningJournal;
  /** Null: bodies are not logged. */
  readonly contents: ContentQueue | null;
  readonly circuits: RunningCircuits;
  readonly retryBudget: RetryBudget;
  readonly leases: LeaseClient;
  readonly documents: DocumentStore;
  readonly hasNats: () => boolean;
  readonly secretManagers: RunningSecretManagers;
  readonly workers: GatewayTasks;
  readonly mcp: Pick<ComposedMcp, 'counts'>;
}

/** Adds the gauges of `GET /metrics` that do not count requests. */
export function addGauges(metrics: Metrics, counted: Counted): void {
  const { server, memory, sessions, journal, contents, circuits, retryBudget, leases, documents } = counted;
  const { hasNats, secretManagers, workers, mcp } = counted;
  metrics.gauge('requests_in_flight', 'Requests whose reply is not complete', () => server.openRequests);
  metrics.gauge('body_bytes_held', 'Bytes of request and reply bodies in memory', () => memory.usedBytes);
  metrics.gauge('body_bytes_max', 'Bytes of bodies above which requests are rejected (BODY_MEMORY_MAX)', () => memory.bytesMax);
  metrics.gauge('realtime_sessions', 'WebSocket sessions that are open', () => sessions.count);
  metrics.gauge('connections', 'Open client connections', () => server.connections);
  metrics.gauge('spool_bytes', 'Records on disk that wait to be sent to the control plane', () => journal.spool.backlog().bytes);
  metrics.gauge(
    'spool_bytes_max',
    'Bytes of records on disk above which this process rejects requests: its share of SPOOL_MAX',
    () => journal.spool.bytesMax,
  );
  metrics.gauge(
    'spool_writable',
    '1 if records can be stored on disk, 0 if requests are rejected because SPOOL_MAX is reached or the disk of DATA_DIR is full or fails',
    () => Number(journal.spool.healthy()),
  );
  metrics.gauge('nats_connected', '1 if this process is connected to NATS_URL or does not use it', () => Number(hasNats()));
  metrics.counter(
    'records_lost_total',
    'Records that could not be written to disk, and one for each file of records that was deleted',
    () => journal.spool.counts.lost,
  );
  metrics.counter('records_shipped_total', 'Records stored by the control plane', () => journal.shipper.counts.inserted);
  if (contents !== null) {
    metrics.gauge('log_bodies_bytes', 'Headers and bodies that wait to be stored for logs', () => contents.bytes);
    metrics.counter('log_bodies_stored_total', 'Requests whose headers and bodies were stored', () => contents.counts.stored);
    metrics.counter('log_bodies_dropped_total', 'Requests whose headers and bodies were dropped', () => contents.counts.dropped);
  }
  metrics.gauge('circuits_open', 'Targets whose circuit is open', () => circuits.openBreakers());
  metrics.counter('circuits_opened_total', 'Circuits opened by this process', () => circuits.counts.opened);
  metrics.counter(
    'circuit_notices_invalid_total',
    'Circuit notices of other gateways that could not be parsed',
    () => circuits.counts.invalidNotices,
  );
  metrics.counter('retries_total', 'Retries sent to the same target', () => retryBudget.counts.allowed);
  metrics.counter('retries_refused_total', 'Retries rejected by the retry budget', () => retryBudget.counts.refused);
  metrics.counter('lease_asks_total', 'Requests for limits to the control plane', () => leases.counts.asks);
  metrics.counter('lease_failures_total', 'Failed requests for limits to the control plane', () => leases.counts.failures);
  metrics.counter('document_hits_total', 'Document look-ups served from memory', () => documents.counts.hits);
  metrics.counter('document_misses_total', 'Document look-ups sent to the control plane', () => documents.counts.misses);
  metrics.counter('documents_invalid_total', 'Documents that failed validation', () => documents.counts.invalid);
  const mcpHelp = 'Messages of MCP servers dropped: too many waited for the client of a session, or too long for another process';
  metrics.counter('mcp_messages_dropped_total', mcpHelp, () => mcp.counts.dropped);
  metrics.gauge('worker_threads', 'Worker threads that are running', () => workers.threads);
  metrics.gauge('worker_tasks_running', 'Tasks that a worker thread is processing', () => workers.running);
  metrics.gauge('worker_tasks_waiting', 'Tasks that wait for a worker thread', () => workers.waiting);
  metrics.counters('worker_tasks_total', 'Finished tasks by name and outcome; inline tasks did not need a thread', () =>
    [...workers.counts].flatMap(([task, counts]) =>
      Object.entries(counts).map(([outcome, value]) => ({ value, labels: { task, outcome } })),
    ),
  );
  const { cache } = secretManagers;
  metrics.counters('secret_fetches_total', 'Requests to secret managers by kind of manager and outcome', () =>
    [...cache.counts()].flatMap(([manager, counts]) =>
      Object.entries(counts).map(([outcome, value]) => ({ value, labels: { manager, outcome } })),
    ),
  );
  metrics.gauge(
    'secret_value_age_seconds',
    'Age in seconds of the oldest secret-manager value used in the last minute',
    () => cache.oldestInUseMs() / 1000,
  );
}
