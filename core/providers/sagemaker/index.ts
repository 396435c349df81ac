import { awsOrigin, regionOf } from '../../cloud-auth/aws-region.ts';
import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { declared } from '../../provider-settings/declaration.ts';
import { signCall } from './auth.ts';
import { endpointHeaders, modelHeaders } from './endpoint-headers.ts';
import { errorOf } from './errors.ts';
import { chatComplete, complete, embed } from './operations.ts';
import { declaration } from './settings.ts';

/** Real-time endpoints of Amazon SageMaker. See README.md. */
export const sagemaker: ProviderAdapter = {
  ...declared(declaration),
  baseUrl: (given) => awsOrigin('runtime.sagemaker', regionOf(given)),
  headers: (given) => endpointHeaders(given),
  modelSources: { headers: modelHeaders },
  sign: signCall,
  // Signatures cover bodies.
  buffersProxyBodies: () => true,
  operations: { chatComplete, complete, embed },
  error: errorOf,
};

export const adapters = [sagemaker];
