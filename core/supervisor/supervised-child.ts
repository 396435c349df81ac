import cluster, { type Worker } from 'node:cluster';
import { provenAfterMs, restartDelayMs } from './restart-delay.ts';

export interface ChildPlan {
  /** `control-plane` or `gateway 0`, for log lines. */
  readonly name: string;
  readonly role: 'gateway' | 'control-plane';
  /** Absolute path of the program. */
  readonly entry: string;
  /** Flags of node itself. */
  readonly nodeFlags: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ChildEvents {
  /** Called for each new process. `worker` is the supervisor's end of its channel. */
  onStart(child: SupervisedChild, worker: Worker): void;
  onMessage(child: SupervisedChild, message: unknown): void;
  /** Returns false to prevent a restart. */
  onDeath(child: SupervisedChild, death: Death): boolean;
}

export interface Death {
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly signal: string | null;
  /** True if `kill` was called. */
  readonly wasKilled: boolean;
  /** Milliseconds until the restart, if `onDeath` allows it. */
  readonly restartInMs: number;
}

/** Time source of the supervisor. Tests replace it. */
export interface SupervisorClock {
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Calls back once after this time. The returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** One child process that is restarted in the same slot whenever it ends, until it is stopped. */
export class SupervisedChild {
  readonly plan: ChildPlan;
  /** True once the current process has reported that it is ready. */
  ready = false;
  /** True once any process so far has been ready. */
  everReady = false;
  readonly #events: ChildEvents;
  readonly #clock: SupervisorClock;
  #worker: Worker | null = null;
  #deaths = 0;
  #killed = false;
  #cancelRestart: (() => void) | null = null;

  constructor(plan: ChildPlan, events: ChildEvents, clock: SupervisorClock) {
    this.plan = plan;
    this.#events = events;
    this.#clock = clock;
  }

  get alive(): boolean {
    return this.#worker !== null;
  }

  get pid(): number | undefined {
    return this.#worker?.process.pid;
  }

  /** The channel to the current process. Null between two processes. */
  get worker(): Worker | null {
    return this.#worker;
  }

  start(): void {
    const startedAt = this.#clock.elapsed();
    // The settings of setupPrimary are global and read by the next fork only: each child brings its own program.
    cluster.setupPrimary({ exec: this.plan.entry, args: [], execArgv: [...this.plan.nodeFlags] });
    const worker = cluster.fork(this.plan.env);
    this.#worker = worker;
    this.#killed = false;
    let ended = false;
    const end = (code: number | null, signal: string | null): void => {
      if (ended) return;
      ended = true;
      this.#ended(startedAt, worker.process.pid, code, signal);
    };
    this.#events.onStart(this, worker);
    worker.on('message', (message) => this.#events.onMessage(this, message));
    worker.on('exit', end);
    // A process that could not be started has no exit event. Other errors are failed sends, which the exit explains.
    worker.on('error', () => {
      if (worker.process.pid === undefined) end(null, 'spawn failure');
    });
  }

  /** Marks the current process as ready. Safe to call twice. */
  markReady(): void {
    this.ready = true;
    this.everReady = true;
  }

  /** Sends if the child is connected. A child that is ending does not receive the message. */
  send(message: object): void {
    if (this.#worker?.isConnected()) this.#worker.send(message, () => {});
  }

  kill(): void {
    this.#killed = true;
    this.#worker?.process.kill('SIGKILL');
  }

  /** Prevents further restarts and cancels a pending one. */
  giveUp(): void {
    this.#cancelRestart?.();
    this.#cancelRestart = null;
  }

  #ended(startedAt: number, pid: number | undefined, code: number | null, signal: string | null): void {
    const wasReady = this.ready;
    this.#worker = null;
    this.ready = false;
    this.#deaths = this.#clock.elapsed() - startedAt > provenAfterMs ? 1 : this.#deaths + 1;
    const restartInMs = restartDelayMs(this.#deaths, wasReady);
    if (!this.#events.onDeath(this, { pid, code, signal, wasKilled: this.#killed, restartInMs })) return;
    this.#cancelRestart = this.#clock.after(restartInMs, () => {
      this.#cancelRestart = null;
      this.start();
    });
  }
}
