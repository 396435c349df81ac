import type { Integration } from './entity.ts';

export interface Deployment {
  /** What callers write as the model. */
  readonly alias: string;
  /** The model behind it. */
  readonly model: string;
}

/** Where models are called by the names of deployments: both names of each, its alias and its own, with the model behind them. */
export function deploymentsOf(integration: Pick<Integration, 'configurations'>): Deployment[] {
  const rows = integration.configurations.azure_deployment_config;
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: Record<string, unknown>) => {
    const model = String(row.azure_model_slug ?? row.azure_deployment_name);
    const names = [row.alias, row.azure_deployment_name].filter((name) => typeof name === 'string');
    return [...new Set(names)].map((alias) => ({ alias, model }));
  });
}
