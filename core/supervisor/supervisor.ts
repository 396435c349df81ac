import cluster, { type Worker } from 'node:cluster';
import type { Settings } from '../../config/settings.ts';
import { noticeSubjects } from '../contract/protocol/notices/notice-subjects.ts';
import { exitCodes, type FirstStartMessage, type ProcessMessage } from '../contract/protocol/processes/process-messages.ts';
import { reloadMessage, stopMessage } from '../contract/protocol/processes/stop-requests.ts';
import type { Log } from '../contract/values/log/log.ts';
import { serveMetricsRequests } from '../telemetry/metrics-ipc.ts';
import { createProbableCause } from './probable-cause.ts';
import { readyText } from './ready-text.ts';
import { type ChildPlan, type Death, SupervisedChild, type SupervisorClock } from './supervised-child.ts';
import { watchGateways } from './watch-gateways.ts';

export interface SupervisorOptions {
  readonly settings: Settings;
  /** Environment of the children: the settings, keys included. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Further variables for the control plane; `env` overrides them. */
  readonly controlPlaneEnv: Readonly<Record<string, string>>;
  readonly controlPlaneEntry: string;
  readonly gatewayEntry: string;
  /** Milliseconds that gateways wait for the start of this machine's control plane, migrations included, before they start without it. */
  readonly gatewaysWaitMs: number;
  /** Flags of node for the control plane. */
  readonly controlPlaneNodeFlags: readonly string[];
  /** Flags of node for gateway processes. */
  readonly gatewayNodeFlags: readonly string[];
  /** True if `print` writes to a terminal; only there the first keys are shown. */
  readonly isTerminal: boolean;
  /** Prints text for the operator, not a log line. */
  print(text: string): void;
  readonly log: Log;
}

export interface Supervisor {
  /** Resolves with the exit code when every child has ended. */
  readonly ended: Promise<number>;
  /** Stops in order: gateways finish their requests, then the control plane stops. Safe to call twice. */
  stop(): void;
  /** Kills every child at once. */
  kill(): void;
  /** Makes the gateways read the files of their certificate again. */
  reload(): void;
}

/** The clock of the process. Its timers keep the process alive. */
const clock: SupervisorClock = {
  elapsed: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Time beyond DRAIN_TIMEOUT in which a child may store and ship its records. */
const graceMs = 10_000;

/**
 * Starts the children of this machine's role and restarts them. It serves no requests itself: it forwards notices of changes and
 * circuits, prints the first keys once, and controls the order of starts and stops.
 */
export function startSupervisor(options: SupervisorOptions): Supervisor {
  const { settings, log } = options;
  const children: SupervisedChild[] = plansOf(options).map(
    (plan) => new SupervisedChild(plan, { onStart, onMessage, onDeath }, clock),
  );
  const gateways = children.filter((child) => child.plan.role === 'gateway');
  const controlPlanes = children.filter((child) => child.plan.role === 'control-plane');
  const probableCause = createProbableCause(clock);
  let state: 'starting' | 'serving' | 'stopping' | 'ended' = 'starting';
  let exitCode = 0;
  let stoppingControlPlane = false;
  let firstStart: FirstStartMessage | null = null;
  let cancelDeadline: (() => void) | null = null;
  let end: (code: number) => void;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });

  const watch = watchGateways(settings.watchdogMs, clock, log);
  // Children that use node's own listeners accept connections themselves. No connection passes through this process.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  for (const child of controlPlanes) child.start();
  // Gateways start after the control plane, because a gateway that cannot reach it would reject its first requests.
  let startGateways: (() => void) | null = () => {
    startGateways = null;
    cancelWait();
    for (const gateway of gateways) gateway.start();
  };
  const cancelWait = clock.after(controlPlanes.length === 0 ? 0 : options.gatewaysWaitMs, () => startGateways?.());
  return { ended, stop: () => stop(0), kill, reload };

  function onStart(child: SupervisedChild, worker: Worker): void {
    if (child.plan.role !== 'gateway') return;
    // Each scrape adds a listener to every worker while it waits, so many listeners are not a leak.
    worker.setMaxListeners(0);
    serveMetricsRequests(worker, () => gateways.map((gateway) => gateway.worker).filter((each) => each !== null));
  }

  function onMessage(child: SupervisedChild, raw: unknown): void {
    const message = raw as Partial<ProcessMessage> | null;
    if (!message) return;
    if (noticeSubjects.has(message.type ?? '')) return sendToOthers(child, message);
    switch (message.type) {
      case 'svc.changes':
        if (child.plan.role === 'control-plane') for (const gateway of gateways) gateway.send(message);
        return;
      case 'alive':
        return watch.beat(child);
      case 'database-away':
        return startGateways?.();
      case 'first-start':
        firstStart = message as FirstStartMessage;
        return;
      case 'ready':
        return onReady(child);
    }
  }

  function sendToOthers(child: SupervisedChild, message: object): void {
    if (child.plan.role === 'gateway') for (const gateway of gateways) if (gateway !== child) gateway.send(message);
  }

  function onReady(child: SupervisedChild): void {
    child.markReady();
    if (child.plan.role === 'control-plane') startGateways?.();
    log.debug({ child: child.plan.name, childPid: child.pid }, 'ready');
    if (state === 'starting' && children.every((each) => each.ready)) announce();
  }

  function announce(): void {
    state = 'serving';
    options.print(readyText(settings, firstStart, options.isTerminal ?? false));
    firstStart = null;
  }

  function onDeath(child: SupervisedChild, death: Death): boolean {
    watch.forget(child);
    const fields = { child: child.plan.name, childPid: death.pid, code: death.code, signal: death.signal };
    if (state === 'stopping') {
      if (death.code !== 0) log.warn(fields, 'process did not stop cleanly');
      advanceStop();
      return false;
    }
    if (death.code === exitCodes.configuration && !child.everReady) {
      // The child has logged the reason itself. A process that fails with these settings will fail again.
      log.error(fields, 'process cannot run with these settings; stopping');
      stop(exitCodes.configuration);
      return false;
    }
    log.error({ ...fields, ...probableCause(death), restartInMs: death.restartInMs }, 'process died; restarting it');
    // Gateways can serve documents from earlier runs, so they do not wait for a failing control plane.
    startGateways?.();
    return true;
  }

  function stop(code: number): void {
    if (state === 'stopping' || state === 'ended') return;
    state = 'stopping';
    exitCode = code;
    log.info({ drainTimeoutMs: settings.drainTimeoutMs }, 'stopping; waiting for running requests');
    giveUp();
    for (const gateway of gateways) gateway.send(stopMessage);
    setDeadline(gateways, settings.drainDelayMs + settings.drainTimeoutMs + graceMs);
    advanceStop();
  }

  /** The control plane stops after the last gateway, which ships its records to it until then. */
  function advanceStop(): void {
    if (gateways.some((gateway) => gateway.alive)) return;
    if (controlPlanes.some((child) => child.alive)) {
      if (stoppingControlPlane) return;
      stoppingControlPlane = true;
      for (const child of controlPlanes) child.send(stopMessage);
      setDeadline(controlPlanes, (settings.role === 'control-plane' ? settings.drainDelayMs : 0) + graceMs);
      return;
    }
    cancelDeadline?.();
    watch.stop();
    log.info({ exitCode }, 'stopped');
    state = 'ended';
    end(exitCode);
  }

  function giveUp(): void {
    startGateways = null;
    cancelWait();
    for (const child of children) child.giveUp();
  }

  function setDeadline(late: readonly SupervisedChild[], ms: number): void {
    cancelDeadline?.();
    cancelDeadline = clock.after(ms, () => {
      exitCode ||= 1;
      for (const child of late) child.kill();
    });
  }

  function reload(): void {
    if (state === 'stopping' || state === 'ended') return;
    log.info({ tls: settings.tlsCert !== null }, 'SIGHUP: gateways reload their certificate files');
    for (const gateway of gateways) gateway.send(reloadMessage);
  }

  function kill(): void {
    if (state === 'ended') return;
    state = 'stopping';
    exitCode ||= 1;
    giveUp();
    for (const child of children) child.kill();
    stoppingControlPlane = true;
    advanceStop();
  }
}

/** Returns the children that run on this machine. */
function plansOf(options: SupervisorOptions): ChildPlan[] {
  const { settings } = options;
  const plans: ChildPlan[] = [];
  if (settings.role !== 'gateway') {
    plans.push({
      name: 'control-plane',
      role: 'control-plane',
      entry: options.controlPlaneEntry,
      nodeFlags: options.controlPlaneNodeFlags,
      env: { ...options.controlPlaneEnv, ...options.env },
    });
  }
  if (settings.role === 'control-plane') return plans;
  for (let slot = 0; slot < settings.gatewayProcesses; slot++) {
    plans.push({
      name: `gateway ${slot}`,
      role: 'gateway',
      entry: options.gatewayEntry,
      nodeFlags: options.gatewayNodeFlags,
      // The slot outlives the process: its next process takes over the spool of the previous one.
      env: { ...options.env, SLOT: String(slot) },
    });
  }
  return plans;
}
