import { awsAuth, awsRequires, awsSettings } from '../../provider-settings/aws.ts';
import { defineProvider } from '../../provider-settings/declaration.ts';
import { headerValue } from '../../provider-settings/kinds.ts';

/** Declares the provider `bedrock-mantle`. */
export const declaration = defineProvider({
  id: 'bedrock-mantle',
  telemetryName: 'aws.bedrock',
  key: 'optional',
  settings: {
    ...awsSettings,
    anthropic_version: headerValue({ about: 'Version of the API for Claude models.', example: '2023-06-01', inline: true }),
    anthropic_beta: headerValue({ about: 'Comma list of beta features.', example: 'context-1m-2025-08-07', inline: true }),
  },
  auth: [awsAuth],
  requires: awsRequires,
  load: () => import('./index.ts'),
});
