import type { BehaviourLike } from '../../support/upstream/fake-upstream.ts';
import type { Clients } from './clients.ts';

/** One call of a route by an official client, and the reply that the client must parse. */
export interface RouteCase {
  /** The client, and the purpose of the call. */
  readonly by: string;
  /** Slug of the stored provider that is called; absent = `oai`. */
  readonly provider?: ProviderSlug;
  /** The provider's reply at its own path of the route (`{id}` filled with `id`), if it is not the default reply. */
  readonly reply?: object | BehaviourLike;
  /** Path at the provider, if it is not `/v1` and the path of the route. */
  readonly at?: string;
  send(clients: Clients): Promise<unknown>;
  /** The parsed reply, as `toMatchObject` takes it. */
  readonly expected: unknown;
  /** False if no provider is called. The reply then names none. */
  readonly asksProvider?: false;
}

export type ProviderSlug = 'oai' | 'ant' | 'coh' | 'mis' | 'rt';

/** The value of every `{id}` in a route. All routes share it, because the tables are sent at the same time. */
export const id = 'one-1';

/** All events of a stream, in order. */
export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of stream) all.push(item);
  return all;
}
