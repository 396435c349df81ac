import type { GatewayError } from '../../values/errors/errors.ts';
import type { HeaderList, InboundRequest } from '../../values/http/http.ts';
import type { JsonObject } from '../../values/json/json.ts';
import type { Maybe } from '../../values/maybe.ts';
import type { Usage } from '../../values/models/usage.ts';
import type { Identity, RequestContext } from '../context.ts';

/** Close codes of RFC 6455 §7.4.1 and its registry that the gateway reads or sends. */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  /** Never on the wire: the peer sent a close frame without a code. */
  none: 1005,
  /** Never on the wire: the connection ended without a close frame. */
  cut: 1006,
  policyViolation: 1008,
  tooBig: 1009,
  internal: 1011,
  tryAgainLater: 1013,
  badGateway: 1014,
} as const;

/** One open WebSocket, at either end of a session. Every method does nothing after it has closed. */
export interface FrameSocket {
  /** Bytes passed to `send` that the operating system has not accepted yet. */
  readonly bufferedBytes: number;
  /** Sets the listener for incoming messages. Call it once, before `resume`: a socket starts paused. */
  listen(listener: FrameListener): void;
  /** Sends one whole message. Every message is accepted. False: the caller must wait for `onDrain` before it sends more. */
  send(data: Uint8Array, isBinary: boolean): boolean;
  ping(): void;
  /** Stops reading. Data that was already read is still delivered, at most a few megabytes. */
  pause(): void;
  resume(): void;
  /**
   * Starts the closing handshake after the messages that were sent. `code` null: the close frame has no code. Reserved codes are
   * not allowed.
   */
  close(code: number | null, reason: string): void;
  /** Ends the connection at once, without a close frame. */
  terminate(): void;
}

export interface FrameListener {
  /** One whole message; the bytes belong to the receiver. */
  onMessage(data: Uint8Array, isBinary: boolean): void;
  /** The socket accepts messages again after `send` returned false. */
  onDrain(): void;
  /** The peer replied to a ping. */
  onPong(): void;
  /**
   * Last call, made once. `code` may be `none` or `cut`; `reason` may hold details. `byRule`: this end closed the socket, because
   * the peer broke a rule of size or format.
   */
  onClose(code: number, reason: string, byRule: boolean): void;
}

/** One message of a session. */
export interface SessionMessage {
  readonly data: Uint8Array;
  readonly isBinary: boolean;
  readonly isFromClient: boolean;
}

/** The effect of a message in place of forwarding it. */
export interface SessionDecision {
  /** The messages that are forwarded in its direction instead; empty: none. */
  readonly forward: readonly Pick<SessionMessage, 'data' | 'isBinary'>[];
  /** A text message for the client. */
  readonly toClient?: Uint8Array;
  /** Ends the session. */
  readonly error?: GatewayError;
}

/** Both open ends of a session, and its context in the pipeline. */
export interface SessionStart {
  readonly ctx: RequestContext;
  readonly client: FrameSocket;
  readonly provider: FrameSocket;
  /** Returns the tokens that an event of the provider reports, null for none; null if the provider's events are unknown. */
  readonly readUsage: ((event: JsonObject) => Usage | null) | null;
  /** Reads the model from messages of a session whose address names none. Absent: it is known. */
  readonly readModel?: (message: Uint8Array, isFromClient: boolean) => void;
  /** A message of the client that comes before its own: the settings of a client secret. Null: there is none. */
  readonly firstMessage: Uint8Array | null;
  /** True: binary messages may be events too, as Gemini sends them. */
  readonly readsBinary: boolean;
  /** True: usage is estimated by the size of the messages until an event states some. */
  readonly isEstimated: boolean;
  /**
   * Runs the plugins after `ctx.usage` has grown. Returns the error that ends the session; rejects, or throws, the error a plugin
   * threw.
   */
  counted(): Maybe<GatewayError | null>;
  /**
   * Runs the plugins that check if the caller may continue. Returns the error that ends the session; rejects, or throws, the
   * error a plugin threw.
   */
  looked(): Maybe<GatewayError | null>;
  /** Inspects each message before it is forwarded; null: no plugin does. */
  readonly inspect: ((message: SessionMessage) => Maybe<SessionDecision | undefined>) | null;
  /** Records the current state of the session. `ctx` must be complete. */
  checkpoint(): void;
  /** Ends the request. `ctx` must be complete. Calls `recorded` once the record is safe. */
  end(outcome: SessionOutcome, recorded: () => void): void;
}

export interface SessionOutcome {
  readonly kind: 'success' | 'aborted' | 'cut';
  readonly error: GatewayError | null;
}

/** A reserved place for one session. The caller must call exactly one of the two methods, once. */
interface SessionSlot {
  start(session: SessionStart): void;
  release(): void;
}

/** The owner of a session. */
export type SessionOwner = Pick<Identity, 'organisationId' | 'workspaceId' | 'keyId'>;

/** The session that a client secret opens. Its creation has fixed all of this. */
export interface SecretSession {
  /** Headers of the request that created the secret: its credential, its gateway headers, and those that become metadata. */
  readonly headers: HeaderList;
  /** Query of the handshake: the model. */
  readonly query: string;
  /** The event with the settings of the session; null: there are none. */
  readonly firstMessage: string | null;
  readonly expiresAtMs: number;
}

/** Client secrets of realtime sessions: sealed texts that any gateway process can open. Nothing of them is stored. */
export interface ClientSecrets {
  seal(session: SecretSession): string;
  /**
   * Returns the handshake as its creator would have sent it, and the first message of the session. Null if it has no client secret,
   * or one that has expired or was not made by this service.
   */
  open(handshake: InboundRequest): { readonly request: InboundRequest; readonly firstMessage: Uint8Array | null } | null;
}

/** The sessions of a gateway process. */
export interface Sessions {
  /**
   * Throws GatewayError `overloaded` if the process has reached its limit of sessions, `too_many_sessions` if the organisation,
   * workspace or key has reached its own, `draining` while the process stops.
   */
  reserve(owner: SessionOwner): SessionSlot;
}
