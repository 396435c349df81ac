import { setTimeout as sleep } from 'node:timers/promises';
import { readSettings } from '../config/read-settings.ts';
import { type ChangeNotice, changesSubject } from '../core/contract/protocol/notices/change-notice.ts';
import { databaseAwayMessage, exitCodes } from '../core/contract/protocol/processes/process-messages.ts';
import { onStopRequests } from '../core/contract/protocol/processes/stop-requests.ts';
import { messageOf } from '../core/contract/values/errors/message-of.ts';
import { keepObjectsYoung } from '../core/contract/values/keep-objects-young.ts';
import { endOnException } from '../core/log/end-on-exception.ts';
import { createLog } from '../core/log/log.ts';
import { loadProviders } from '../core/provider-host/load-providers.ts';
import { failureFields } from './failure-fields.ts';
import { isDatabaseAway } from './is-database-away.ts';
import type { ControlPlane } from './start-control-plane.ts';
import { StartError } from './start-error.ts';

/** While the database is unreachable, one line per this time is logged. */
const warnEveryMs = 30_000;

/** Runs the control plane as a process of its own, as a child of the supervisor or alone. Exits on a stop signal. */
export async function runProcess(): Promise<void> {
  const settings = readSettings(exitCodes.configuration);
  const { logLevel: level, logFormat: format, headerPrefix, headerPrefixAliases } = settings;
  const headerPrefixes = [headerPrefix, ...headerPrefixAliases];
  const log = createLog({ level, format, name: 'control-plane', headerPrefixes });
  endOnException(log);
  let plane: ControlPlane | null = null;
  let stopping = false;
  const stop = () => {
    // A second signal stops the process at once.
    if (stopping) process.exit(1);
    stopping = true;
    void (plane?.close() ?? Promise.resolve()).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  onStopRequests({ stop });
  // Without its supervisor, this process would never receive a stop signal.
  if (process.send) process.on('disconnect', stop);

  const publish = (notice: ChangeNotice) => void process.send?.({ type: changesSubject, notice }, undefined, {}, () => {});
  const startControlPlane = await loadControlPlane(settings.providers, log);
  let warnFromMs = 0;
  while (plane === null) {
    try {
      plane = await startControlPlane(settings, { log, publish, beforeListening: keepObjectsYoung });
    } catch (error) {
      const failed = failureFields(error);
      if (isDatabaseAway(error) && settings.databaseUrl !== null) {
        if (performance.now() >= warnFromMs) {
          const { reason, error: details } = failed;
          log.warn({ reason, error: details }, 'the database of DATABASE_URL cannot be reached; trying again every second');
          warnFromMs = performance.now() + warnEveryMs;
        }
        process.send?.(databaseAwayMessage, undefined, {}, () => {});
        await sleep(200 + Math.random() * 800);
        continue;
      }
      log.error(failed, 'the control plane cannot start');
      const failure = errorOf(error);
      if (failure !== null) process.stderr.write(`${failure}\n`);
      process.exit(failure === null ? 1 : exitCodes.configuration);
    }
  }
  if (plane.firstKeys) process.send?.({ type: 'first-start', ...plane.firstKeys });
  process.send?.({ type: 'ready', role: 'control-plane', port: plane.port });
  log.info({ port: plane.port }, 'the control plane is ready');
}

/** Loads third-party providers, then the modules that read the list of providers. Exits if a provider cannot be loaded. */
async function loadControlPlane(providers: readonly string[], log: ReturnType<typeof createLog>) {
  try {
    await loadProviders(providers);
    return (await import('./start-control-plane.ts')).startControlPlane;
  } catch (error) {
    log.error(failureFields(error), 'the control plane cannot start');
    process.stderr.write(`the control plane cannot start: ${messageOf(error)}\n`);
    process.exit(exitCodes.configuration);
  }
}

function errorOf(error: unknown): string | null {
  if (error instanceof StartError) return error.message;
  const { code, port, syscall } = error as { code?: string; port?: number; syscall?: string };
  if (syscall === 'listen' && (code === 'EADDRINUSE' || code === 'EACCES'))
    return `CONTROL_PLANE_PORT: port ${port} cannot be used (${code})`;
  return null;
}
