import type { Sessions } from '../contract/plugin/sessions/web-socket.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { Session, type SessionLimits } from './session.ts';
import { type OwnerMax, SessionCounts } from './session-counts.ts';

export interface SessionsOptions extends Omit<SessionLimits, 'bufferedBytesMax'> {
  /** Maximum number of concurrent sessions. */
  readonly sessionsMax: number;
  /** Maximum number for one organisation, workspace or key. */
  readonly ownerMax: OwnerMax;
  /** Maximum message size in bytes, in both directions. */
  readonly messageBytesMax: number;
  readonly clock: Clock;
}

/** The sessions of one gateway process. */
export interface OpenSessions extends Sessions {
  /** Number of sessions that are open or about to open. */
  readonly count: number;
  /**
   * Accepts no more sessions. Open ones continue for `graceMs` and are then closed with 1001. Resolves when all are closed and recorded.
   * Safe to call twice.
   */
  drain(graceMs: number): Promise<void>;
}

/**
 * Maximum bytes of messages that wait for one side of a session: two of the maximum length, and the data read before a pause
 * takes effect.
 */
const bufferedMessages = 2;
const bufferedBytesMin = 96 * 1024 * 1024;
/** Maximum time between two checks of all sessions. */
const sweepMsMax = 1000;
/** Time limit of a closing handshake when the process stops. */
const closingMs = 1000;

/** Starts without sessions. No timer runs while there are none. */
export function createSessions(options: SessionsOptions): OpenSessions {
  const { clock, sessionsMax } = options;
  const limits = { ...options, bufferedBytesMax: bufferedMessages * options.messageBytesMax + bufferedBytesMin };
  const owners = new SessionCounts(options.ownerMax);
  const open = new Set<Session>();
  const sweepMs = Math.max(
    20,
    Math.min(sweepMsMax, ...[options.idleMs, options.totalMs, options.recordMs].filter((ms) => ms > 0).map((ms) => ms / 4)),
  );
  let reserved = 0;
  let draining: Promise<void> | null = null;
  let sweeper: NodeJS.Timeout | null = null;
  let onEmpty = (): void => {};

  function sweep(): void {
    const nowMs = clock.elapsed();
    for (const session of open) session.look(nowMs);
  }

  function closed(session: Session, release: () => void): void {
    open.delete(session);
    release();
    if (open.size > 0) return;
    if (sweeper !== null) clearInterval(sweeper);
    sweeper = null;
    onEmpty();
  }

  /** Resolves when no session is left or the time has passed. */
  function empty(ms: number): Promise<void> {
    if (open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function end(graceMs: number): Promise<void> {
    await empty(graceMs);
    for (const session of [...open]) session.goAway();
    await empty(closingMs);
    for (const session of [...open]) session.terminate();
  }

  return {
    get count() {
      return reserved;
    },
    reserve(owner) {
      if (draining !== null) throw new GatewayError('draining');
      if (reserved >= sessionsMax) {
        throw new GatewayError('overloaded', {
          message: 'WebSocket session limit of this gateway reached (REALTIME_SESSIONS_MAX). Try again shortly',
        });
      }
      const leave = owners.enter(owner);
      reserved++;
      const release = (): void => {
        reserved--;
        leave();
      };
      return {
        start(given) {
          const session = new Session(given, limits, clock, () => closed(session, release));
          open.add(session);
          sweeper ??= setInterval(sweep, sweepMs).unref();
          session.start();
          // The handshake was in progress when the process began to drain.
          if (draining !== null) session.goAway();
        },
        release,
      };
    },
    drain(graceMs) {
      draining ??= end(graceMs);
      return draining;
    },
  };
}
