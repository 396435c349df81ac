import { azureOpenAi } from '../../../../core/providers/azure-openai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(azureOpenAi, {
  settings: {
    azure_resource_name: 'contoso-east',
    azure_auth_mode: 'default',
    azure_deployment_config: [
      {
        azure_deployment_name: 'gpt-4o-prod',
        azure_api_version: '2024-10-21',
        azure_model_slug: 'gpt-4o',
        alias: 'fast',
        is_default: true,
      },
      { azure_deployment_name: 'gpt-5-prod', azure_api_version: 'v1', azure_model_slug: 'gpt-5', alias: 'clever' },
      {
        azure_deployment_name: 'instruct',
        azure_api_version: '2023-05-15',
        azure_model_slug: 'gpt-35-turbo-instruct',
        alias: 'legacy',
      },
      { azure_deployment_name: 'embed-small', azure_api_version: 'v1', azure_model_slug: 'text-embedding-3-small' },
    ],
  },
  credential: { header: 'api-key', value: (key) => key },
  finishReasons: 'as-sent',
});
