import { GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import { within } from '../../contract/values/time/within.ts';
import { RpcError } from '../../json-rpc/messages.ts';

/** A list of a server took too long. */
class Late extends Error {}

/** Rejects with Late if the list takes longer. The read goes on in the background, so that later requests find the list. */
export function listWithin<T>(list: Promise<T>, ms: number): Promise<T> {
  return within(list, ms, () => new Late(`no list within ${ms} ms`));
}

/** Returns why the list of a server is missing, for clients. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Late || thrown instanceof RpcError ? thrown.message : toGatewayError(thrown).message;
}

/** Returns the error of a call that needs the list of a server. */
export function errorOf(thrown: unknown, slug: string): unknown {
  if (!(thrown instanceof Late)) return thrown;
  return new GatewayError('request_timeout', { message: `The MCP server ${slug} sent ${thrown.message}` });
}
