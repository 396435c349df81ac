import { expect, it } from 'vitest';
import { deploymentProbes } from '../../../../core/providers/azure-openai/deployment-probes.ts';

it('deployment probes: one free call per row of the table, dated or version-free', () => {
  const row = (name: string, version: string) => ({
    azure_deployment_name: name,
    azure_api_version: version,
    azure_model_slug: 'm',
  });
  const settings = { azure_deployment_config: [row('a b', '2024-10-21'), row('newer', 'v1')] };
  expect(deploymentProbes(settings)).toEqual([
    {
      field: 'azure_deployment_config[0].azure_deployment_name',
      path: '/openai/deployments/a%20b/chat/completions?api-version=2024-10-21',
      body: { model: 'a b', messages: [] },
    },
    {
      field: 'azure_deployment_config[1].azure_deployment_name',
      path: '/openai/v1/chat/completions',
      body: { model: 'newer', messages: [] },
    },
  ]);
});

it('deployment probes: none without a table of deployments', () => {
  expect(deploymentProbes({ azure_resource_name: 'my-resource' })).toEqual([]);
});
