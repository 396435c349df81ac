import { azureAi } from '../../../../core/providers/azure-ai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(azureAi, {
  settings: { azure_foundry_url: 'https://contoso.services.ai.azure.com', azure_auth_mode: 'default' },
  credential: { header: 'api-key', value: (key) => key },
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'content_filter' },
});
