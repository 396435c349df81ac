import { awsAuth, awsRequires, awsSettings } from '../../provider-settings/aws.ts';
import { defineProvider } from '../../provider-settings/declaration.ts';
import { choice, headerValue } from '../../provider-settings/kinds.ts';

const { apiKey: _apiKey, ...modes } = awsAuth.modes;

/** Settings that become headers of a call: `amzn_sagemaker_target_model` is `x-amzn-sagemaker-target-model`. */
export const headerSettings = {
  amzn_sagemaker_custom_attributes: headerValue({ about: 'Attributes for the model container.', example: 'c000b4f9' }),
  amzn_sagemaker_target_model: headerValue({
    choosesModel: true,
    about: 'Model of a multi-model endpoint.',
    example: 'model.tar.gz',
  }),
  amzn_sagemaker_target_variant: headerValue({ choosesModel: true, about: 'Production variant.', example: 'variant-1' }),
  amzn_sagemaker_target_container_hostname: headerValue({
    choosesModel: true,
    about: 'Container of a multi-container endpoint.',
    example: 'container-1',
  }),
  amzn_sagemaker_inference_id: headerValue({ about: 'Id of the inference in captured data.', example: 'inference-1' }),
  amzn_sagemaker_enable_explanations: headerValue({ about: 'Expression that selects explained records.', example: '`true`' }),
  amzn_sagemaker_inference_component: headerValue({ choosesModel: true, about: 'Inference component.', example: 'component-1' }),
  amzn_sagemaker_session_id: headerValue({ about: 'Session of a stateful model.', example: 'session-1' }),
  amzn_sagemaker_model_name: headerValue({
    choosesModel: true,
    about: 'Model name in the body and the header.',
    example: 'model-1',
  }),
};

/** Declares the provider `sagemaker`. */
export const declaration = defineProvider({
  id: 'sagemaker',
  key: 'optional',
  settings: {
    ...awsSettings,
    aws_auth_type: choice({
      about: 'Authentication: access key, assumed role, or identity of the machine.',
      options: ['accessKey', 'assumedRole', 'serviceRole'],
      pinned: 'always',
    }),
    ...headerSettings,
  },
  auth: [{ ...awsAuth, modes, required: true }],
  requires: [{ needs: ['aws_region'] }, ...awsRequires],
  load: () => import('./index.ts'),
});
