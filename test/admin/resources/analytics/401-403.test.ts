import { refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';

const span = 'time_of_generation_min=2026-01-01T00:00:00Z&time_of_generation_max=2026-01-02T00:00:00Z';
const probes = ['graphs/cost', 'groups/model', 'summary/cache'].map((path) => ({
  method: 'GET' as const,
  path: `/analytics/${path}?${span}`,
}));

refusesUnknownKeys('analytics', probes.slice(0, 1));
refusesMissingScopes('analytics', probes);
