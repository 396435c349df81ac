import type { UpstreamSender } from '../../contract/provider/upstream.ts';
import type { ResolvedTarget } from './build-target.ts';

/** Returns what sends the calls of a target: its provider, if that handles calls inside the process, otherwise `network`. */
export function senderOf(
  { adapter, origin }: Pick<ResolvedTarget, 'adapter' | 'origin'>,
  network: UpstreamSender,
): UpstreamSender {
  const { inProcess } = adapter;
  return inProcess !== undefined && inProcess.origin === origin ? inProcess : network;
}
