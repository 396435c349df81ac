/** Path of the field with the document. */
export const documentField = 'configurations.openapi.document';
