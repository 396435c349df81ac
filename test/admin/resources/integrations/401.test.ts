import { refusesUnknownKeys } from '../../support/refusal-suites.ts';

refusesUnknownKeys('integrations', [
  { method: 'GET', path: '/integrations' },
  { method: 'POST', path: '/integrations', body: { name: 'x', ai_provider_id: 'openai' } },
  { method: 'DELETE', path: '/integrations/any' },
]);
