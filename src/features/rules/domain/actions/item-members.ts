/** The members of an action or its payload that name items. */
export const ITEM_MEMBERS = ['item', 'itemId', 'itemName', 'offer', 'give', 'items'];
