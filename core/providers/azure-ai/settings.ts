import { azureAuth, azureIdentitySettings } from '../../provider-settings/azure.ts';
import { defineProvider } from '../../provider-settings/declaration.ts';
import { choice, label, text, url } from '../../provider-settings/kinds.ts';
import { openAiTiers, toolsOfOpenAi } from '../../provider-settings/openai-prices.ts';
import { azurePriceName } from '../../provider-settings/price-names.ts';

/** Declares the provider `azure-ai`. */
export const declaration = defineProvider({
  id: 'azure-ai',
  telemetryName: 'azure.ai.inference',
  priceId: 'azure',
  priceName: azurePriceName,
  prices: { tiers: openAiTiers, thousands: toolsOfOpenAi },
  key: 'optional',
  settings: {
    azure_foundry_url: url({
      about: 'URL of the Foundry resource.',
      example: 'https://example.services.ai.azure.com',
      query: true,
    }),
    azure_deployment_name: text({
      about: 'Deployment of an endpoint with one model.',
      pattern: /^[\w.-]{1,128}$/,
      expected: 'the name of a deployment',
      example: 'mistral-large',
      choosesModel: true,
    }),
    azure_deployment_type: choice({ about: 'Kind of an endpoint with one model.', options: ['serverless', 'managed'] }),
    azure_endpoint_name: label({
      about: 'Name of a managed endpoint, part of its host.',
      expected: 'one label of a host name',
      example: 'my-endpoint',
      host: 'part',
      choosesModel: true,
    }),
    azure_region: label({
      about: 'Region of an endpoint with one model, part of its host.',
      expected: 'one label of a host name',
      example: 'westeurope',
      host: 'part',
    }),
    azure_api_version: text({
      about: 'Version of the API.',
      pattern: /^(v1|preview|\d{4}-\d{2}-\d{2}(-preview)?)$/,
      expected: 'v1, preview, or a date such as 2024-05-01-preview',
      example: '2024-05-01-preview',
    }),
    azure_extra_parameters: choice({
      about: 'What the inference API does with parameters it does not know.',
      options: ['drop', 'error', 'pass-through', 'allow', 'ignore'],
    }),
    ...azureIdentitySettings,
  },
  auth: [azureAuth],
  requires: [{ needs: ['azure_foundry_url'] }],
  load: () => import('./index.ts'),
});
