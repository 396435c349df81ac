import type { CorkAnchor } from './cork-anchor.ts';
import type { TurnClock } from './turn-clock.ts';
import type { UwsReplySink } from './write-reply.ts';

/** State shared by all replies of a server. */
export interface ReplyEdge {
  readonly clock: TurnClock;
  /** While true, every reply closes its connection. */
  readonly leaving: boolean;
  /** Returns the reply, whose cork a WebSocket upgrade must run in. */
  anchor(): CorkAnchor;
  /** Called once per sink when the reply is complete, cut or aborted. */
  replyOver(sink: UwsReplySink): void;
  /** See `ReplySink.countFor`. */
  countFor(sink: UwsReplySink, owner: string): boolean;
  /** Called when a callback of the caller threw. Its reply is cut. */
  callbackFailed(error: unknown): void;
}
