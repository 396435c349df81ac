import { defineProvider } from '../../provider-settings/declaration.ts';
import { bucket, choice, flag, jsonSecret, text } from '../../provider-settings/kinds.ts';
import { vertexPriceName } from '../../provider-settings/price-names.ts';
import { geminiTiers, searchesOfGemini } from '../../provider-settings/provider-prices.ts';
import { storedResourceSettings } from '../../provider-settings/stored-resources.ts';
import { credentialFileProblem } from './credential-file.ts';

/** Declares the provider `vertex-ai`. */
export const declaration = defineProvider({
  id: 'vertex-ai',
  telemetryName: 'gcp.vertex_ai',
  priceId: 'google',
  priceName: vertexPriceName,
  prices: { tiers: geminiTiers, thousands: searchesOfGemini },
  key: 'optional',
  settings: {
    ...storedResourceSettings,
    vertex_auth_type: choice({
      about:
        'Authentication: API key (`basic`), a credential file, or a workload identity. `wif` without a file is the identity of the machine; `workload` is the same as `wif`.',
      options: ['basic', 'serviceAccount', 'wif', 'workload'],
      pinned: 'always',
    }),
    vertex_service_account_json: jsonSecret({
      about: 'Credential file: service account, external account or authorized user.',
      example: { type: 'service_account', client_email: 'gateway@example.iam.gserviceaccount.com', private_key: 'example' },
      check: credentialFileProblem,
    }),
    // Region and project become parts of host names and paths.
    vertex_region: text({
      about: 'Region whose endpoint is called.',
      pattern: /^[a-z]+(-[a-z]+\d{1,2})?$/,
      expected: 'a region such as us-central1, global, us or eu',
      example: 'europe-west4',
      host: 'part',
      moves: true,
    }),
    vertex_project_id: text({
      about: 'Project of the models. Default: the project of the credential file.',
      pattern: /^([a-z0-9.-]{1,100}:)?[a-z0-9-]{1,63}$/,
      expected: 'a project id or number',
      example: 'my-project',
    }),
    vertex_storage_bucket_name: bucket({ about: 'Bucket of files, batches and fine-tuning jobs.', pinned: 'once-stored' }),
    vertex_skip_ptu_cost_attribution: flag({
      about: 'Requests served by provisioned throughput cost nothing.',
      only: 'integration',
      skipsProvisioned: true,
    }),
    vertex_map_metadata: flag({ about: 'Stored without effect.', only: 'integration', unused: true }),
  },
  auth: [
    {
      setting: 'vertex_auth_type',
      required: true,
      modes: {
        basic: { needs: ['api_key'] },
        serviceAccount: { needs: ['vertex_service_account_json'], credential: 'vertex_service_account_json' },
        wif: { credential: 'vertex_service_account_json', federates: true },
        workload: { credential: 'vertex_service_account_json' },
      },
      usual: [
        ['serviceAccount', 'vertex_service_account_json'],
        ['basic', 'api_key'],
      ],
    },
  ],
  requires: [{ needs: ['vertex_region'] }],
  load: () => import('./index.ts'),
});
