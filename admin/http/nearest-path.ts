import { nearestName } from '../../config/did-you-mean.ts';

/**
 * Returns the path with its misspelt segments corrected to those of a route; null if no route is close. `routes` are patterns such as
 * `/configs/:slug/versions`, whose parameters match any segment.
 */
export function nearestPath(path: string, routes: readonly string[]): string | null {
  const given = path.split('/');
  let nearest: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const route of routes) {
    const segments = route.split('/');
    if (segments.length !== given.length) continue;
    const corrected = segments.map((segment, index) => correct(given[index] as string, segment));
    const changes = corrected.filter((segment, index) => segment !== given[index]).length;
    if (corrected.includes(null) || changes >= least) continue;
    nearest = corrected.join('/');
    least = changes;
  }
  return nearest === null ? null : nearest.slice(0, 200);
}

function correct(given: string, segment: string): string | null {
  if (segment.startsWith(':') || given === segment) return given;
  return nearestName(given, [segment]);
}
