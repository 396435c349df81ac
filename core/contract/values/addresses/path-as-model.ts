import { percentDecoded } from '../text/percent-decoded.ts';

/** Returns the path without its first and last slashes, decoded: the model of providers whose models are paths. Null for an empty path. */
export function pathAsModel(path: string): string | null {
  const name = path.split('/').filter((segment) => segment !== '');
  return name.length === 0 ? null : percentDecoded(name.join('/'));
}
