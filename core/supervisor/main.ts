import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { databaseWarning } from '../../config/database-warning.ts';
import { type Environment, loadSettings, SettingsError } from '../../config/load-settings.ts';
import { memoryBytes } from '../../config/memory-bytes.ts';
import { memoryWarning } from '../../config/memory-warning.ts';
import { misspeltSettings } from '../../config/misspelt-settings.ts';
import { nodeVersionIssue } from '../../config/node-version.ts';
import { prepareKeys } from '../../config/prepare-keys.ts';
import type { Settings } from '../../config/settings.ts';
import { freeStartReserve } from '../../config/start-reserve.ts';
import { version } from '../../config/version.ts';
import { exitCodes } from '../contract/protocol/processes/process-messages.ts';
import { isDiskError } from '../contract/values/errors/is-disk-error.ts';
import { createLog } from '../log/log.ts';
import { busyPorts } from './check-ports.ts';
import { compileCache } from './compile-cache.ts';
import { helpText } from './help-text.ts';
import { holdDataDir } from './hold-data-dir.ts';
import { onStopSignals } from './stop-signals.ts';
import { startSupervisor } from './supervisor.ts';

const isSource = import.meta.url.endsWith('.ts');
/** Flags of node for processes that run from source: without the preload each one would hold Node's type stripper. */
const sourceFlags = isSource ? [`--import=${new URL('load-stripped.mjs', import.meta.url).href}`] : [];

/**
 * With the embedded database the control plane serves few requests, so a small young generation saves some 40 MB. V8 compiles the
 * database's WebAssembly while it is created. One job at a time, in one malloc arena that returns free memory, leaves 120 MB less resident
 * afterwards. A function must run ten times as long as by default before V8 optimises it, which saves a second of CPU per start.
 */
const embeddedDatabaseFlags = ['--max-semi-space-size=4', '--wasm-num-compilation-tasks=1', '--wasm-tiering-budget=130000000'];
const controlPlaneMalloc = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

/**
 * A process has about one core: threads for garbage collection take CPU time from its event loop. The young generation has V8's default
 * size, 3 x 16 MB, because with most other flags V8 compiles Node's own modules again: a tenth of the start of a gateway.
 */
const nodeFlags = ['--single-threaded-gc'];

/** The program behind `npm start` and `svc-gateway`. Checks the settings, starts the processes, and waits for their end. */
async function main(): Promise<number> {
  const asked = readArguments();
  if (typeof asked === 'string') return refuse([asked, 'svc-gateway --help lists the options'], 2);
  if (asked.help) return show(helpText(version));
  if (asked.version) return show(`${version}\n`);

  const nodeIssue = nodeVersionIssue(process.versions.node);
  if (nodeIssue !== null) return refuse([nodeIssue], exitCodes.configuration);
  for (const line of misspeltSettings(process.env)) process.stderr.write(`warning: ${line}\n`);
  let env: Environment;
  let settings: Settings;
  try {
    env = prepareKeys(process.env);
    settings = loadSettings(env);
  } catch (error) {
    if (error instanceof SettingsError) return refuse(error.issues, codeFor(error.cause));
    throw error;
  }
  const busy = await busyPorts(settings);
  if (busy.length > 0) return refuse(busy, exitCodes.configuration);
  if (settings.role !== 'control-plane') freeStartReserve(settings.dataDir, [...Array(settings.gatewayProcesses).keys()]);
  const hold = await holdDataDir(settings).catch((cause: Error) => ({
    error: `DATA_DIR: got ${JSON.stringify(settings.dataDir)}, expected a folder that this process can write (${cause.message})`,
    cause,
  }));
  if (hold.error !== null) return refuse([hold.error], codeFor('cause' in hold ? hold.cause : null));

  const log = createLog({ level: settings.logLevel, format: settings.logFormat, name: 'supervisor' });
  for (const warning of [memoryWarning(settings, memoryBytes()), databaseWarning(settings)]) {
    if (warning !== null) log.warn({}, warning);
  }
  const entries = { controlPlaneEntry: programAt('../../admin/main'), gatewayEntry: programAt('../main') };
  const supervisor = startSupervisor({
    settings,
    env: {
      // Compiled code is stored between starts, which halves the time until a restarted process serves again.
      NODE_COMPILE_CACHE: compileCache(settings.dataDir, [...Object.values(entries), programAt('main')]),
      // Files, compression, and look-ups by the system's resolver take these threads. Look-ups take half of them at most.
      UV_THREADPOOL_SIZE: '16',
      ...env,
    },
    ...entries,
    gatewaysWaitMs: 30_000,
    controlPlaneNodeFlags: [...(settings.databaseUrl === null ? embeddedDatabaseFlags : nodeFlags), ...sourceFlags],
    controlPlaneEnv: controlPlaneMalloc,
    gatewayNodeFlags: [...nodeFlags, ...sourceFlags],
    isTerminal: process.stdout.isTTY === true,
    print: log.print,
    log,
  });
  onStopSignals(process, () => performance.now(), supervisor.stop, supervisor.kill);
  // Without a handler a closing terminal session would end the service.
  process.on('SIGHUP', supervisor.reload);
  const code = await supervisor.ended;
  hold.release();
  log.flush();
  return code;
}

function readArguments(): { help?: boolean; version?: boolean } | string {
  try {
    return parseArgs({ options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } } }).values;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns the same program from source or from the build, like this file itself. */
function programAt(relative: string): string {
  return fileURLToPath(new URL(`${relative}${isSource ? '.ts' : '.js'}`, import.meta.url));
}

function show(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** Exit code of a start that failed for this reason. A disk may recover, so that a service manager should start the service again. */
function codeFor(cause: unknown): number {
  return isDiskError(cause) ? 1 : exitCodes.configuration;
}

function refuse(lines: readonly string[], code: number): number {
  process.stderr.write(`${lines.join('\n')}\n`);
  return code;
}

process.exitCode = await main();
