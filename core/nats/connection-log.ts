import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';

/** Names of the client's errors. Services without NATS do not load its classes. */
const credentialErrors: ReadonlySet<string> = new Set(['AuthorizationError', 'UserAuthenticationExpiredError']);
const permissionError = 'PermissionViolationError';

/** Logs the state of a connection to NATS: each problem once per outage, although the client tries twice a second. */
export interface NatsConnectionLog {
  /** `error`: the reason if there is one. */
  lost(error?: unknown): void;
  restored(): void;
  /** An error that the client reports: rejected credentials, a missing permission, or a message of the server. */
  failed(error: Error): void;
}

/** `consequence`: completes each line, such as "polling for changes". */
export function createNatsConnectionLog(log: Log, consequence: string): NatsConnectionLog {
  const logged = new Set<string>();
  const warnOnce = (fields: Readonly<Record<string, string>>, message: string): void => {
    const key = JSON.stringify([fields, message]);
    if (!logged.has(key)) log.warn(fields, `${message}; ${consequence}`);
    logged.add(key);
  };
  let isLost = false;

  return {
    lost(error) {
      if (credentialErrors.has((error as Error | undefined)?.name ?? '')) return this.failed(error as Error);
      if (isLost) return;
      isLost = true;
      logged.clear();
      log.warn(error === undefined ? {} : { reason: messageOf(error) }, `NATS connection lost; ${consequence}`);
    },
    restored() {
      if (isLost) log.info({}, 'NATS connection restored');
      isLost = false;
    },
    failed(error) {
      const { name } = error;
      if (credentialErrors.has(name)) {
        isLost = true;
        return warnOnce({ reason: messageOf(error) }, 'NATS rejects the user or password of NATS_URL');
      }
      if (name !== permissionError) return warnOnce({ reason: messageOf(error) }, 'NATS reports an error');
      const { operation = '', subject = '' } = error as Error & { readonly operation?: string; readonly subject?: string };
      warnOnce({ operation, subject }, 'NATS denies the user of NATS_URL a subject. Permit it to publish and subscribe to svc.>');
    },
  };
}
