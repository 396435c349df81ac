import type { JsonObject } from '../values/json/json.ts';
import type { ProviderSettings } from './provider.ts';

/** How a provider lists its models. */
export interface ModelList {
  /** Path below the base URL, with a query if the list has pages. */
  path(settings: ProviderSettings): string;
  /** Reads one page of the provider's list. Entries that are not models are left out. */
  read(reply: JsonObject): ModelPage;
}

export interface ModelPage {
  readonly models: readonly ListedModel[];
  /** Path of the next page, or null. */
  readonly nextPath?: string | null;
}

/** One POST that shows whether a deployment exists. */
export interface DeploymentProbe {
  /** Path of the deployment's name in the configurations of the integration. */
  readonly field: string;
  /** Path below the origin's base path, with its query. */
  readonly path: string;
  readonly body: JsonObject;
}

/** One model of a provider's list in OpenAI's terms. */
export interface ListedModel {
  readonly id: string;
  /** Unix seconds; 0 if the provider does not send it. */
  readonly created: number;
  /** Empty if the provider does not send it. */
  readonly ownedBy: string;
  /** Further fields that the provider returns. They are included in the list unless a name clashes. */
  readonly more?: JsonObject;
}
