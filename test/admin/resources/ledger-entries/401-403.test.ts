import { refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';

refusesUnknownKeys('ledger entries', [{ method: 'GET', path: '/ledger/entries' }]);
refusesMissingScopes('ledger entries', [{ method: 'GET', path: '/ledger/entries' }]);
