import { readSettings } from '../config/read-settings.ts';
import { secretNames } from '../config/secret-files.ts';
import { freeStartReserve, keepStartReserve } from '../config/start-reserve.ts';
import type { Gateway } from './compose/gateway.ts';
import { startFailure } from './compose/start-failure.ts';
import { exitCodes } from './contract/protocol/processes/process-messages.ts';
import { onStopRequests } from './contract/protocol/processes/stop-requests.ts';
import { messageOf } from './contract/values/errors/message-of.ts';
import { stackOf } from './contract/values/errors/stack-of.ts';
import { endOnException } from './log/end-on-exception.ts';
import { createLog, type ProcessLog } from './log/log.ts';
import { loadProviders } from './provider-host/load-providers.ts';
import { startWatchdog } from './watchdog/start-watchdog.ts';

/** One gateway process: child of the supervisor, or started alone. SLOT is its number among the gateways of the machine. */
async function main(): Promise<void> {
  const settings = readSettings(exitCodes.configuration);
  // Plugins run in this process and can read its environment, so keys and passwords are removed from it after they are read.
  for (const name of secretNames) for (const variable of [name, `${name}_FILE`, name.toLowerCase()]) delete process.env[variable];
  const slot = Number(process.env.SLOT ?? '0');
  const log = createLog({
    level: settings.logLevel,
    format: settings.logFormat,
    name: 'gateway',
    slot,
    headerPrefixes: [settings.headerPrefix, ...settings.headerPrefixAliases],
  });
  let gateway: Gateway | null = null;
  let stopping = false;
  const exit = (code: number): void => {
    log.flush();
    process.exit(code);
  };
  const stop = (): void => {
    // A second signal stops the process at once.
    if (stopping) exit(1);
    stopping = true;
    void (gateway?.close() ?? Promise.resolve()).then(
      () => exit(0),
      () => exit(1),
    );
  };
  const reload = async (): Promise<void> => {
    try {
      if (await gateway?.reloadTls()) log.info({ file: settings.tlsCert }, 'certificate reloaded');
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'certificate not reloaded; keeping the old one');
    }
  };
  onStopRequests({ stop, reload: () => void reload() });
  if (process.send) process.on('disconnect', () => exit(1));
  endOnException(log);
  process.on('unhandledRejection', (reason) => {
    log.error({ reason: messageOf(reason), stack: stackOf(reason) }, 'unhandled promise rejection');
  });

  try {
    const providers = await loadProviders(settings.providers);
    // Loaded afterwards: its modules read the list of providers.
    const { startGateway } = await import('./compose/gateway.ts');
    freeStartReserve(settings.dataDir, [slot]);
    gateway = await startGateway(settings, slot, log, providers);
    keepStartReserve(settings.dataDir, slot);
  } catch (error) {
    const { message, exitCode } = startFailure(error, settings.dataDir);
    log.error({ reason: message, stack: stackOf(error) }, 'the gateway cannot start');
    process.stderr.write(`the gateway cannot start: ${message}\n`);
    exit(exitCode);
    return;
  }
  const send = process.send?.bind(process);
  await startWatchdog({ timeoutMs: settings.watchdogMs, send, lines: { name: 'gateway', slot, pid: process.pid }, log });
  await whenReady(gateway, log);
  process.send?.({ type: 'ready', role: 'gateway', port: gateway.port });
}

/** Milliseconds between two checks whether a listening gateway is ready. */
const readyPollMs = 100;

/** Resolves once the gateway can serve. Logs the reasons if it cannot at first. */
async function whenReady(gateway: Gateway, log: ProcessLog): Promise<void> {
  const reasons = gateway.unready();
  if (reasons.length === 0) return;
  log.warn({ reasons: reasons.map(({ message }) => message) }, 'the gateway listens but is not ready');
  while (gateway.unready().length > 0) await new Promise((resolve) => setTimeout(resolve, readyPollMs));
  log.info({}, 'the gateway is ready');
}

await main();
