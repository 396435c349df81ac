import { refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';

const body = { time_of_generation_min: '2026-11-21T00:00:00Z', time_of_generation_max: '2026-11-22T00:00:00Z' };

refusesUnknownKeys('repricings', [{ method: 'POST', path: '/ledger/repricings', body }]);
refusesMissingScopes('repricings', [
  { method: 'POST', path: '/ledger/repricings', body },
  { method: 'GET', path: '/ledger/repricings' },
]);
