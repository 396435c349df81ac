import type { UpstreamCall, UpstreamHandler, UpstreamTransport } from '../contract/provider/upstream.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { chatReply, replyWith, type Script } from './provider-scripts.ts';

/** A transport whose calls run scripts instead of reaching a provider. */
export interface ScriptedTransport {
  readonly transport: UpstreamTransport;
  readonly calls: UpstreamCall[];
  readonly aborted: UpstreamCall[];
  /** Scripts are used up in order; the last one stays. */
  script(...scripts: Script[]): void;
}

export function newScriptedTransport(): ScriptedTransport {
  const calls: UpstreamCall[] = [];
  const aborted: UpstreamCall[] = [];
  let scripts: Script[] = [replyWith(200, chatReply('hello'))];
  const transport: UpstreamTransport = {
    send(call, handler) {
      calls.push(call);
      const script = (scripts.length > 1 ? scripts.shift() : scripts[0]) as Script;
      const gone = { yes: false };
      const guarded: UpstreamHandler = {
        onHead(status, headers) {
          if (gone.yes) return;
          try {
            handler.onHead(status, headers);
          } catch (thrown) {
            // As undici does. The script would otherwise end the process of the test.
            gone.yes = true;
            handler.onError(toGatewayError(thrown));
          }
        },
        onData: (chunk) => gone.yes || handler.onData(chunk),
        onEnd: () => gone.yes || handler.onEnd(),
        onError: (error) => gone.yes || handler.onError(error),
      };
      const exchange = {
        sent: true,
        resume: () => {},
        abort: () => {
          if (!gone.yes) aborted.push(call);
          gone.yes = true;
        },
      };
      setImmediate(() => {
        if (!gone.yes && script(call, guarded) === 'connecting') exchange.sent = false;
      });
      // No accessor: V8 makes a hidden class for each object literal with one, which holds the request until a full collection.
      return exchange;
    },
    close: async () => {},
  };
  return {
    transport,
    calls,
    aborted,
    script: (...next) => {
      scripts = next;
    },
  };
}

/** A transport that reaches no service. */
export const noServices: UpstreamTransport = {
  send(_call, handler) {
    setImmediate(() => handler.onError(new GatewayError('upstream_connect')));
    return { resume: () => {}, abort: () => {} };
  },
  close: async () => {},
};
