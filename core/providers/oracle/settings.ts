import { defineProvider } from '../../provider-settings/declaration.ts';
import { choice, secret, text } from '../../provider-settings/kinds.ts';

const date = { pattern: /^\d{8}$/, expected: 'a date such as 20231130', example: '20231130' } as const;
const ocid = { pattern: /^ocid1\.[\w.-]{1,250}$/, expected: 'an OCID such as ocid1.tenancy.oc1..example' } as const;

/** Declares the provider `oracle`. */
export const declaration = defineProvider({
  id: 'oracle',
  key: 'optional',
  settings: {
    oracle_region: text({
      about: 'Region whose endpoint is called.',
      pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
      expected: 'a region such as us-chicago-1',
      example: 'us-chicago-1',
      host: 'part',
      moves: true,
    }),
    oracle_api_version: text({ about: 'Version of the dated API.', ...date, olderName: 'oracleVersion' }),
    oracle_version: text({ about: 'Older name of `oracle_api_version`.', ...date }),
    oracle_compartment_id: text({ about: 'Compartment that is billed.', ...ocid, example: 'ocid1.compartment.oc1..example' }),
    oracle_serving_mode: choice({ about: 'Required kind of serving.', options: ['ON_DEMAND', 'DEDICATED'] }),
    oracle_tenancy: text({ about: 'Tenancy of the user.', ...ocid, example: 'ocid1.tenancy.oc1..example', pinned: 'always' }),
    oracle_user: text({ about: 'User that signs calls.', ...ocid, example: 'ocid1.user.oc1..example', pinned: 'always' }),
    oracle_fingerprint: text({
      about: "Fingerprint of the user's API key.",
      pattern: /^[0-9a-f]{2}(:[0-9a-f]{2}){15}$/i,
      expected: 'the fingerprint of a key, 16 pairs of hexadecimal digits',
      example: '20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34',
      pinned: 'always',
    }),
    oracle_private_key: secret({
      about: "Private key of the user's API key, PEM.",
      example: '-----BEGIN PRIVATE KEY-----\nexample\n-----END PRIVATE KEY-----',
      check: (value) =>
        /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value)
          ? null
          : 'expected a private key in PEM form (-----BEGIN PRIVATE KEY-----)',
    }),
    oracle_key_passphrase: secret({ about: 'Passphrase of the private key.' }),
  },
  requires: [
    { needs: ['oracle_region'], unless: 'custom_host' },
    { needs: ['oracle_tenancy', 'oracle_user', 'oracle_fingerprint', 'oracle_private_key'], unless: 'api_key' },
  ],
  load: () => import('./index.ts'),
});
