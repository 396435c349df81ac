import { openSession, RefusedHandshake, type SessionClient } from '../clients/session-client.ts';
import { type FakeRealtime, type FakeSession, startFakeRealtime } from '../fakes/fake-realtime.ts';
import { until } from '../until.ts';
import { type SharedGateway, sharedSettings, shareGateway } from './shared-gateway.ts';
import { type RunningGateway, startGateway } from './start-gateway.ts';

/** A gateway with one provider of sessions, `@oai`. */
export interface RealtimeGateway<Gateway = SharedGateway> {
  readonly gateway: Gateway;
  readonly provider: FakeRealtime;
  readonly messageBytesMax: number;
  /** Returns the URL of a path below `/v1`. */
  at(path: string): string;
  /** Both ends of a session. */
  open(
    path?: string,
    headers?: Record<string, string>,
    protocols?: string[],
  ): Promise<{ client: SessionClient; session: FakeSession }>;
  /** Returns the error reply to a handshake. Fails if the handshake succeeds. */
  refusal(path: string, headers: Record<string, string>, protocols?: string[]): Promise<RefusedHandshake>;
  /** Returns the log of an ended session when the control plane has it. Fails if there is more than one. */
  // biome-ignore lint/suspicious/noExplicitAny: replies are looked into freely; what is asserted is the check
  logOf(client: Pick<SessionClient, 'headers'>, isThere?: (log: any) => boolean): Promise<any>;
  close(): Promise<void>;
}

export const realtimePath = '/realtime?model=@oai/gpt-realtime';

const messageBytesMax = sharedSettings.realtimeMessageBytesMax;

/** Starts a product with these settings. */
export async function startRealtimeGateway(env: Record<string, string>): Promise<RealtimeGateway<RunningGateway>> {
  const gateway = await startGateway({ env: { REALTIME_MESSAGE_MAX: String(messageBytesMax), ...env } });
  return realtimeOf(gateway, async () => void (await gateway.stop()));
}

/** Uses the shared product of this process, with a provider of the caller's own. */
export async function shareRealtimeGateway(): Promise<RealtimeGateway> {
  return realtimeOf(await shareGateway(), async () => {});
}

async function realtimeOf<Gateway extends SharedGateway>(
  gateway: Gateway,
  stop: () => Promise<void>,
): Promise<RealtimeGateway<Gateway>> {
  const provider = await startFakeRealtime();
  await gateway.admin.createUpstream('oai', `${provider.origin}/v1`, { key: 'sk-stored' });
  const at = (path: string): string => `ws://127.0.0.1:${gateway.port}/v1${path}`;
  return {
    gateway,
    provider,
    messageBytesMax,
    at,
    async open(path = realtimePath, headers = {}, protocols = []) {
      const client = await openSession(at(path), { 'x-svc-api-key': gateway.workspaceKey, ...headers }, protocols);
      return { client, session: await provider.nextSession() };
    },
    async refusal(path, headers, protocols = []) {
      const outcome = await openSession(at(path), headers, protocols).catch((error: unknown) => error);
      if (outcome instanceof RefusedHandshake) return outcome;
      throw new Error('the handshake was not refused', { cause: outcome });
    },
    async logOf(client, isThere = (log) => log.outcome !== 'open') {
      const traceId = encodeURIComponent(String(client.headers['x-svc-trace-id']));
      const list = await until(async () => {
        const reply = await gateway.admin.get(`/logs?trace_id=${traceId}`);
        return reply.body.data.length > 0 && isThere(reply.body.data[0]) && reply.body;
      });
      if (list.data.length !== 1) throw new Error(`there are ${list.data.length} logs of one session`);
      return list.data[0];
    },
    async close() {
      await stop();
      await provider.close();
    },
  };
}
