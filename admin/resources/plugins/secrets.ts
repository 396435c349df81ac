import { sealedFields } from '../../secrets/sealed-fields.ts';
import type { Plugin } from './entity.ts';

/** The credentials of the rows of `plugins`. */
export const pluginSecrets = sealedFields<Plugin>('plugins');
