/** Names of the schemas and messages of RFC 7643 and RFC 7644. */
export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const listMessage = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const errorMessage = 'urn:ietf:params:scim:api:messages:2.0:Error';
