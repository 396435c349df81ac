import { hash } from 'node:crypto';
import * as v from 'valibot';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { Peers } from '../peers/peers.ts';

const reply = v.object({ number: v.number(), session: v.string(), message: v.record(v.string(), v.unknown()) });

/** A question of a server to a client with a session: sampling, elicitation or roots. */
interface ClientQuestion {
  /** Id of the client's session, as its requests name it. Replies of other sessions are dropped. */
  readonly session: string;
  readonly method: string;
  readonly params: unknown;
}

/**
 * Questions that the gateway sends to clients with sessions, on behalf of servers without sessions. The process that asked waits; a reply
 * that arrives at another process is passed to it.
 */
export interface ClientQuestions {
  /**
   * Sends the question with `send`, and resolves with the client's result. Throws RpcError -32603 if the client refuses, and GatewayError
   * `request_timeout` if it does not reply in time. `onCancel` receives a function that ends the wait.
   */
  ask(question: ClientQuestion, send: (message: JsonObject) => void, onCancel: (cancel: () => void) => void): Promise<JsonObject>;
  /** Passes on a reply of a client. Replies to unknown questions are dropped. */
  settle(session: string, message: JsonObject): Promise<void>;
}

interface Open {
  readonly session: string;
  resolve(message: JsonObject): void;
}

const questionId = /^svc-([0-9a-f-]{36})-(\d{1,15})$/;

/** `timeoutMs`: maximum time for one reply. People reply to some questions. */
export function createClientQuestions(peers: Peers, timeoutMs: number): ClientQuestions {
  const open = new Map<number, Open>();
  let last = 0;
  peers.serve('client-reply', async (value) => {
    settleHere(v.parse(reply, value));
    return {};
  });

  return {
    async ask({ session, method, params }, send, onCancel) {
      const number = ++last;
      let timer: NodeJS.Timeout | undefined;
      const received = new Promise<JsonObject>((resolve, reject) => {
        open.set(number, { session: digest(session), resolve });
        timer = setTimeout(() => reject(late(method)), timeoutMs);
        onCancel(() => reject(new GatewayError('client_closed')));
      });
      try {
        send({ jsonrpc: '2.0', id: `svc-${peers.self}-${number}`, method, ...(isObject(params) ? { params } : {}) });
        const { result, error } = await received;
        if (isObject(result)) return result;
        const reason = isObject(error) ? `: ${String(error.message).slice(0, 500)}` : '';
        throw new RpcError(rpcCodes.internal, `The client refused ${method}, which the MCP server needs${reason}`, {
          status: 200,
        });
      } finally {
        clearTimeout(timer);
        open.delete(number);
      }
    },
    async settle(session, message) {
      const found = typeof message.id === 'string' ? questionId.exec(message.id) : null;
      if (!found) return;
      const [, process = '', number] = found;
      const given = { number: Number(number), session: digest(session), message };
      if (process === peers.self) settleHere(given);
      else await peers.ask(process, 'client-reply', given, { onEvent: () => {}, onCancel: () => {} });
    },
  };

  function settleHere({ number, session, message }: v.InferOutput<typeof reply>): void {
    const found = open.get(number);
    if (found?.session === session) found.resolve(message);
  }
}

function digest(session: string): string {
  return hash('sha256', session, 'base64url');
}

function late(method: string): GatewayError {
  return new GatewayError('request_timeout', { message: `The client did not reply to ${method} of the MCP server in time` });
}
