import { hidesForeignItems } from '../../support/refusal-suites.ts';
import { itemProbes, rateBody, usageBody } from './probes.ts';

hidesForeignItems(
  'usage limit policies',
  async (plane) => [(await plane.ask('POST', '/policies/usage-limits', { body: usageBody })).body.id],
  (id) => itemProbes(id, id).filter((probe) => probe.path.includes('usage-limits')),
);

hidesForeignItems(
  'rate limit policies',
  async (plane) => [(await plane.ask('POST', '/policies/rate-limits', { body: rateBody })).body.id],
  (id) => itemProbes(id, id).filter((probe) => probe.path.includes('rate-limits')),
);
