import type { Probe } from '../../support/refusal-suites.ts';

/** Every route of deployments with a valid body. */
export function probes(idOrSlug: string): readonly Probe[] {
  const path = `/deployments/${idOrSlug}`;
  return [
    { method: 'GET', path: '/deployments' },
    { method: 'POST', path: '/deployments', body: { name: 'Stolen' } },
    { method: 'GET', path },
    { method: 'PUT', path, body: { name: 'Stolen' } },
    { method: 'DELETE', path },
    { method: 'GET', path: `${path}/ping` },
  ];
}
