import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { timedOut } from './sse-calls.ts';

/** Receives the messages of the server that belong to one request. */
export interface SseReceiver {
  /** Progress of the request, under the client's token. */
  onProgress?(message: JsonObject): void;
  /** Called once with a function that cancels the request. */
  onCancel?(cancel: () => void): void;
}

interface Pending {
  readonly message: JsonObject;
  readonly receiver: SseReceiver;
  timer: NodeJS.Timeout | undefined;
  resolve(response: JsonObject): void;
  reject(error: GatewayError): void;
  readonly cancel: () => void;
}

/** Requests of a connection that have no response yet. `idleMs`: maximum silence of the server about one of them; 0: unlimited. */
export class PendingRequests {
  readonly #all = new Map<number, Pending>();
  readonly #idleMs: number;
  readonly #onSettled: () => void;
  #lastId = 0;

  constructor(idleMs: number, onSettled: () => void) {
    this.#idleMs = idleMs;
    this.#onSettled = onSettled;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Adds a request, and returns the message to send. `cancel` notifies the server that the response is not expected any more. */
  add(message: JsonObject, receiver: SseReceiver, cancel: (id: number) => void) {
    const id = ++this.#lastId;
    const response = new Promise<JsonObject>((resolve, reject) => {
      const one: Pending = { message, receiver, resolve, reject, timer: undefined, cancel: () => cancel(id) };
      this.#all.set(id, one);
      this.#wait(id, one);
    });
    receiver.onCancel?.(() => {
      if (this.fail(id, new GatewayError('client_closed'))) cancel(id);
    });
    return { id, sent: { ...withToken(message, id), id }, response };
  }

  /** Passes progress to its request, under the client's token. */
  progress(params: JsonObject, message: JsonObject): void {
    const id = params.progressToken;
    const one = typeof id === 'number' ? this.#all.get(id) : undefined;
    const token = one ? tokenOf(one.message) : undefined;
    if (!one || token === undefined) return;
    this.#wait(id as number, one);
    one.receiver.onProgress?.({ ...message, params: { ...params, progressToken: token } });
  }

  /** Passes a response to its request. Responses to unknown requests are dropped. */
  settle(response: JsonObject): void {
    const one = typeof response.id === 'number' ? this.#take(response.id) : undefined;
    one?.resolve({ ...response, id: one.message.id });
  }

  /** Returns false if the request has its response already. */
  fail(id: number, error: GatewayError): boolean {
    const one = this.#take(id);
    one?.reject(error);
    return one !== undefined;
  }

  /** Cancels the request that has this id at the client. */
  cancel(clientId: unknown): void {
    for (const [id, one] of this.#all) {
      if (one.message.id === clientId && this.fail(id, new GatewayError('client_closed'))) one.cancel();
    }
  }

  failAll(error: GatewayError): void {
    for (const id of [...this.#all.keys()]) this.fail(id, error);
  }

  #take(id: number): Pending | undefined {
    const one = this.#all.get(id);
    if (!one) return undefined;
    clearTimeout(one.timer);
    this.#all.delete(id);
    this.#onSettled();
    return one;
  }

  #wait(id: number, one: Pending): void {
    clearTimeout(one.timer);
    if (this.#idleMs === 0) return;
    one.timer = setTimeout(() => {
      if (this.fail(id, timedOut())) one.cancel();
    }, this.#idleMs);
  }
}

function tokenOf({ params }: JsonObject): unknown {
  return isObject(params) && isObject(params._meta) ? params._meta.progressToken : undefined;
}

function withToken(message: JsonObject, token: number): JsonObject {
  if (tokenOf(message) === undefined) return message;
  const params = message.params as JsonObject;
  return { ...message, params: { ...params, _meta: { ...(params._meta as JsonObject), progressToken: token } } };
}
