import { defineProvider } from '../../provider-settings/declaration.ts';
import { headerValue } from '../../provider-settings/kinds.ts';

/** Settings that become headers of a call under the same name with `-` for `_`. */
export const clientSettings = {
  stability_client_id: headerValue({ about: 'Application that calls.', example: 'my-app', max: 256 }),
  stability_client_user_id: headerValue({ about: 'User that calls.', example: 'user-1', max: 256 }),
  stability_client_version: headerValue({ about: 'Version of the application.', example: '1.2.1', max: 256 }),
};

/** Declares the provider `stability-ai`. */
export const declaration = defineProvider({
  id: 'stability-ai',
  settings: clientSettings,
  load: () => import('./index.ts'),
});
