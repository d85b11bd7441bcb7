//! What a schema says of single listed values.

use super::View;
use schema::value_key;
use serde_json::Value;

impl View<'_> {
    /// Texts beside the listed values: one for each in their order, or by name.
    pub(super) fn tell_values(&mut self, texts: Option<&Value>) {
        let Some(texts) = texts else { return };
        for (at, value) in self.values.clone().unwrap_or_default().iter().enumerate() {
            let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let own = match texts {
                Value::Array(texts) => texts.get(at),
                texts => texts.get(&name),
            };
            if let Some(text) = own.and_then(Value::as_str) {
                self.tell_value(value, text);
            }
        }
    }

    pub(super) fn tell_value(&mut self, value: &Value, text: &str) {
        let told = self.value_texts.entry(value_key(value));
        let (_, all) = told.or_insert_with(|| (value.clone(), String::new()));
        if !all.is_empty() {
            all.push_str(". ");
        }
        all.push_str(text);
    }
}
