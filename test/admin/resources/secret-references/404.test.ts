import { hidesForeignItems } from '../../support/refusal-suites.ts';
import { itemProbes, vaultReference } from './probes.ts';

hidesForeignItems(
  'secret references',
  async (plane) => [
    (await plane.ask('POST', '/secret-references', { body: { ...vaultReference, slug: 'mine' } })).body.id,
    'mine',
  ],
  itemProbes,
  ['adminKey'],
);
