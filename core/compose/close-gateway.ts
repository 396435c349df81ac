import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../config/settings.ts';
import type { GatewayTasks } from '../../workers/gateway-tasks.ts';
import type { UpstreamTransport } from '../contract/provider/upstream.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { HttpServer } from '../http/server.ts';
import type { PlanStore } from '../pipeline/plan/plan-store.ts';
import type { OpenSessions } from '../realtime/sessions.ts';
import type { MetricsPeer } from '../telemetry/metrics-ipc.ts';
import type { MetricsExport } from '../telemetry/otlp/export-metrics.ts';
import type { ComposedAgents } from './compose-agents.ts';
import type { ComposedMcp } from './compose-mcp.ts';
import type { startReports } from './start-reports.ts';
import type { GatewayState } from './start-state.ts';

/** Time for the last metrics at shutdown. */
const lastExportMs = 1000;

/** Time to report at shutdown that this process stops. */
const lastReportMs = 1000;

/** Maximum time to close the sessions after their grace period. */
const sessionClosingMs = 2000;

interface Parts {
  readonly settings: Settings;
  readonly log: Log;
  readonly server: HttpServer;
  readonly sessions: OpenSessions;
  readonly plans: PlanStore;
  readonly reports: ReturnType<typeof startReports>;
  readonly mcp: ComposedMcp;
  readonly agent: ComposedAgents;
  readonly state: GatewayState;
  readonly peer: MetricsPeer;
  readonly metricsExport: MetricsExport | null;
  readonly workers: GatewayTasks;
  readonly transport: UpstreamTransport;
}

/** Stops a gateway in order: its listener, its requests and sessions, its records, and then the parts that these use. */
export async function closeGateway({ settings, log, server, sessions, plans, ...more }: Parts): Promise<void> {
  const { reports, mcp, agent, state, peer, metricsExport, workers, transport } = more;
  server.leave();
  if (settings.drainDelayMs > 0) {
    await sleep(settings.drainDelayMs);
    await server.stopListening();
  }
  mcp.endStreams();
  agent.endStreams();
  // Sessions must be closed before the drain time of requests ends.
  const graceMs = Math.max(0, Math.min(settings.realtimeDrainMs, settings.drainTimeoutMs - sessionClosingMs));
  const [late] = await Promise.all([server.drain(settings.drainTimeoutMs), sessions.drain(graceMs)]);
  if (late > 0) log.warn({ requests: late }, 'DRAIN_TIMEOUT is over; the remaining requests were ended with an error');
  server.close();
  plans.close();
  await reports.close(lastReportMs);
  mcp.close();
  await state.close();
  peer.close();
  await metricsExport?.close(lastExportMs);
  await workers.close();
  await transport.close();
}
