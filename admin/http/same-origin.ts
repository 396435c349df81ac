import type { Settings } from '../../config/settings.ts';
import { vouchHeader } from '../../core/contract/values/client-origin.ts';
import { isClusterKey } from './client-address.ts';

type Header = (name: string) => string | undefined;

/** Where a request comes from, as the browser says it: `unknown` for programs, which send neither header. */
export type RequestOrigin = 'same' | 'cross' | 'unknown';

/**
 * Whether a browser sent this from a page of ours. Browsers put `Origin` on every request that could change something, and
 * pages cannot forge it or `Sec-Fetch-Site`.
 */
export function requestOrigin(header: Header, settings: Pick<Settings, 'publicUrl' | 'clusterKeyText'>): RequestOrigin {
  const site = header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' ? 'same' : 'cross';
  const origin = header('origin');
  if (origin === undefined) return 'unknown';
  const sent = URL.parse(origin);
  if (sent === null || sent.origin === 'null') return 'cross';
  if (sent.origin === new URL(settings.publicUrl).origin) return 'same';
  // The gateway in front tells the host it was asked for; nobody else is believed.
  const vouched = isClusterKey(header(vouchHeader) ?? '', settings) ? header('x-forwarded-host') : undefined;
  return sent.host === (vouched ?? header('host')) ? 'same' : 'cross';
}
