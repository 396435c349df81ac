import { awsOrigin, regionOf } from '../../cloud-auth/aws-region.ts';
import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { signCall } from './auth.ts';
import { faultOf } from './errors.ts';
import { chatComplete, complete, embed } from './operations.ts';
import { endpointHeaders, settings } from './settings.ts';

/** Real-time endpoints of Amazon SageMaker. See README.md. */
export const sagemaker: ProviderAdapter = {
  id: 'sagemaker',
  settings,
  baseUrl: (given) => awsOrigin('runtime.sagemaker', regionOf(given)),
  headers: (given) => endpointHeaders(given),
  sign: signCall,
  // Signatures cover bodies.
  buffersProxyBodies: () => true,
  movedBy: ['aws_region'],
  pinned: ['aws_auth_type', 'aws_role_arn', 'aws_external_id', 'aws_session_tags'],
  operations: { chatComplete, complete, embed },
  error: faultOf,
};
