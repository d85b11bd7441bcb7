//! The operators: each a kind of change, with its label and the places where it can be done.

use super::{Operator, bodies, described, kind, parameters, responses};
use serde_json::{Value, json};

/// All operators.
pub fn all() -> Vec<Operator> {
    let op = |name, review, apply| Operator { name, review, apply };
    vec![
        op("request default number moved", true, |map, _| {
            map.each(true, |place, schema| {
                let number = schema["default"].as_i64()?;
                Some(map.with(place, |value| value["default"] = json!(number + 7)))
            })
        }),
        op("request default flag flipped", true, |map, _| {
            map.each(true, |place, schema| {
                let flag = schema["default"].as_bool()?;
                Some(map.with(place, |value| value["default"] = json!(!flag)))
            })
        }),
        op("request default choice moved", true, |map, _| {
            map.each(true, |place, schema| {
                let now = schema.get("default")?;
                let other = schema["enum"].as_array()?.iter().find(|value| *value != now)?.clone();
                Some(map.with(place, |value| value["default"] = other))
            })
        }),
        op("request default removed", true, |map, _| {
            map.each(true, |place, schema| {
                schema.get("default").filter(|value| !value.is_null())?;
                Some(map.with(place, |value| {
                    value.as_object_mut().expect("an object").shift_remove("default");
                }))
            })
        }),
        op("answer enum value added", true, |map, random| {
            let new = *random.pick(&["suspended", "under_review", "legacy"]);
            map.each(false, |place, schema| {
                schema["enum"].as_array().filter(|list| list.iter().all(Value::is_string))?;
                Some(map.with(place, |value| {
                    value["enum"].as_array_mut().expect("a list").push(json!(new))
                }))
            })
        }),
        op("answer identifier became optional", true, |map, _| {
            map.members(false, |place, name, _, required| {
                (required && (name == "id" || name.ends_with("_id"))).then(|| {
                    map.with(place, |value| {
                        value["required"].as_array_mut().expect("a list").retain(|n| n != name);
                    })
                })
            })
        }),
        op("answer field became nullable", true, |map, _| {
            map.members(false, |place, name, member, _| {
                let now = kind(member);
                (!now.is_empty() && now != "null" && member.get("nullable") != Some(&json!(true)))
                    .then(|| {
                        map.with(place, |value| {
                            let member = &mut value["properties"][name];
                            if map.is_30() {
                                member["nullable"] = json!(true);
                            } else {
                                member["type"] = json!([now, "null"]);
                                if let Some(list) = member["enum"].as_array_mut() {
                                    list.push(Value::Null);
                                }
                            }
                            if !map.is_30() && member["enum"].is_null() {
                                member.as_object_mut().expect("an object").shift_remove("enum");
                            }
                        })
                    })
            })
        }),
        op("answer optional field removed", true, |map, _| {
            map.members(false, |place, name, _, required| {
                (!required).then(|| {
                    map.with(place, |value| {
                        value["properties"].as_object_mut().expect("an object").shift_remove(name);
                    })
                })
            })
        }),
        op("answer field renamed", true, |map, _| {
            map.members(false, |place, name, _, required| {
                (!required).then(|| {
                    map.with(place, |value| {
                        let members = value["properties"].as_object_mut().expect("an object");
                        let schema = members.shift_remove(name).expect("it is there");
                        members.insert(format!("{name}_id"), schema);
                    })
                })
            })
        }),
        op("unit moved in a field's text", true, |map, _| {
            let places = map.response.union(&map.request).cloned().collect::<Vec<_>>();
            described(
                map,
                places.into_iter(),
                &[
                    ("seconds", "milliseconds"),
                    ("minutes", "hours"),
                    ("dollars", "cents"),
                    ("bytes", "kilobytes"),
                    ("MB", "GB"),
                    ("days", "hours"),
                    ("GB", "MB"),
                    ("hours", "days"),
                ],
            )
        }),
        op("reach told otherwise in an operation's text", true, |map, random| {
            let pairs = [
                (
                    "Returns only items that the caller may modify.",
                    "Returns all items in the organization, including ones the caller may only view.",
                ),
                ("Lists all records.", "Lists only records created by the caller."),
                (
                    "Every change is applied at once.",
                    "Changes are applied at once, except those of other teams.",
                ),
            ];
            let (old, new) = *random.pick(&pairs);
            map.operations
                .iter()
                .map(|place| {
                    let mut root = map.with(place, |value| value["description"] = json!(new));
                    root["x-old"] = json!([place, "description", old]);
                    root
                })
                .collect()
        }),
        op("rule of a list's end told otherwise", true, |map, random| {
            let pairs = [
                (
                    "A page. When next is absent there are no more pages.",
                    "A page. An empty page does not mean the end; follow next until it is null.",
                ),
                (
                    "One page of results. The last page has fewer than limit results.",
                    "One page of results. The last page has no next token; a short page is not the end.",
                ),
            ];
            let (old, new) = *random.pick(&pairs);
            responses(map)
                .into_iter()
                .filter(|(_, status, place)| {
                    status.starts_with('2')
                        && map.at(place).is_some_and(|v| v.get("$ref").is_none())
                })
                .map(|(_, _, place)| {
                    let mut root = map.with(&place, |value| value["description"] = json!(new));
                    root["x-old"] = json!([place, "description", old]);
                    root
                })
                .collect()
        }),
        op("answer date-time became date", true, |map, _| {
            map.each(false, |place, schema| {
                (schema["format"] == "date-time")
                    .then(|| map.with(place, |value| value["format"] = json!("date")))
            })
        }),
        op("answer media type replaced", true, |map, _| {
            responses(map)
                .into_iter()
                .filter_map(|(_, status, place)| {
                    map.at(&place)?
                        .get("content")?
                        .get("application/json")
                        .filter(|_| status.starts_with('2'))?;
                    Some(map.with(&place, |value| {
                        let content = value["content"].as_object_mut().expect("an object");
                        let json = content.shift_remove("application/json").expect("it is there");
                        content.insert("application/hal+json".to_owned(), json);
                    }))
                })
                .collect()
        }),
        op("answer media type added", true, |map, _| {
            responses(map)
                .into_iter()
                .filter_map(|(_, status, place)| {
                    map.at(&place)?
                        .get("content")?
                        .get("application/json")
                        .filter(|_| status.starts_with('2'))?;
                    Some(map.with(&place, |value| {
                        value["content"]["text/csv"] = json!({"schema": {"type": "string"}})
                    }))
                })
                .collect()
        }),
        op("success may be an error object", true, |map, _| {
            responses(map).into_iter().filter_map(|(_, status, place)| {
                let schema = map.at(&place)?.get("content")?.get("application/json")?.get("schema").filter(|_| status.starts_with('2'))?.clone();
                Some(map.with(&place, |value| {
                    value["content"]["application/json"]["schema"] = json!({"oneOf": [schema, {"type": "object", "required": ["problem"], "properties": {"problem": {"type": "integer"}}}]});
                }))
            }).collect()
        }),
        op("success status added", true, |map, _| {
            map.operations
                .iter()
                .filter(|place| !place.ends_with("/get"))
                .filter(|place| {
                    map.keys(&format!("{place}/responses"))
                        .iter()
                        .all(|status| status != "202" && status != "default" && status != "2XX")
                })
                .map(|place| {
                    map.with(place, |value| {
                        value["responses"]["202"] = json!({"description": "accepted"})
                    })
                })
                .collect()
        }),
        op("answer header removed", true, |map, _| {
            responses(map)
                .into_iter()
                .filter_map(|(_, _, place)| {
                    let place = map.follow(&place);
                    map.at(&place)?
                        .get("headers")?
                        .as_object()
                        .filter(|headers| !headers.is_empty())?;
                    Some(map.with(&place, |value| {
                        let headers = value["headers"].as_object_mut().expect("an object");
                        let first = headers.keys().next().expect("not empty").clone();
                        headers.shift_remove(&first);
                    }))
                })
                .collect()
        }),
        op("error answer removed", true, |map, _| {
            responses(map)
                .into_iter()
                .filter(|(_, status, _)| status.starts_with('4'))
                .map(|(operation, status, _)| {
                    map.with(&operation, |value| {
                        value["responses"]
                            .as_object_mut()
                            .expect("an object")
                            .shift_remove(&status);
                    })
                })
                .collect()
        }),
        op("parameter removed", true, |map, _| {
            parameters(map)
                .into_iter()
                .filter(|place| map.at(place).is_some_and(|value| value["in"] != "path"))
                .map(|place| {
                    let (list, at) = place.rsplit_once('/').expect("it has a parent");
                    let at: usize = at.parse().expect("an index");
                    map.with(list, |value| {
                        value.as_array_mut().expect("a list").remove(at);
                    })
                })
                .collect()
        }),
        op("parameter became required", true, |map, _| {
            parameters(map)
                .into_iter()
                .filter(|place| map.at(place).is_some_and(|value| value["required"] != true))
                .map(|place| map.with(&place, |value| value["required"] = json!(true)))
                .collect()
        }),
        op("request maximum lowered", true, |map, _| {
            map.each(true, |place, schema| {
                let now = schema["maximum"].as_i64().filter(|n| *n > 4)?;
                Some(map.with(place, |value| value["maximum"] = json!(now / 2)))
            })
        }),
        op("risky optional field added to a request", true, |map, random| {
            let name = *random.pick(&[
                "delete_source", "force_overwrite", "purge_history", "overwriteExisting",
                "removeMembers", "cascade",
            ]);
            bodies(map)
                .into_iter()
                .map(|place| {
                    map.with(&place, |value| {
                        value["properties"][name] = json!({"type": "boolean", "default": true})
                    })
                })
                .collect()
        }),
        op("request enum value added", true, |map, _| {
            map.each(true, |place, schema| {
                schema["enum"].as_array().filter(|list| list.iter().all(Value::is_string))?;
                Some(map.with(place, |value| {
                    value["enum"].as_array_mut().expect("a list").push(json!("move_and_delete"))
                }))
            })
        }),
        op("operationId renamed", true, |map, _| {
            map.operations
                .iter()
                .filter(|place| {
                    map.at(place).is_some_and(|value| value.get("operationId").is_some())
                })
                .map(|place| {
                    map.with(place, |value| {
                        value["operationId"] =
                            json!(format!("{}_v2", value["operationId"].as_str().unwrap_or("")))
                    })
                })
                .collect()
        }),
        op("base address moved", true, |map, _| {
            map.at("/servers/0/url")
                .map(|url| {
                    let url = format!("{}/v9", url.as_str().unwrap_or("").trim_end_matches('/'));
                    vec![map.with("/servers/0", |value| value["url"] = json!(url))]
                })
                .unwrap_or_default()
        }),
        op("scope exchanged", true, |map, _| {
            map.operations
                .iter()
                .filter_map(|place| {
                    let scopes =
                        map.at(place)?.get("security")?.as_array()?.first()?.as_object()?;
                    let (scheme, list) = scopes.iter().next()?;
                    list.as_array()?.first()?;
                    let scheme = scheme.clone();
                    Some(map.with(place, |value| {
                        value["security"][0][&scheme][0] = json!("everything:write")
                    }))
                })
                .collect()
        }),
        op("answer always asks for approval", true, |map, random| {
            let name =
                *random.pick(&["requires_approval", "needsConfirmation", "consent_required"]);
            map.only(false)
                .into_iter()
                .filter(|place| {
                    map.at(place).is_some_and(|value| {
                        value["properties"].as_object().is_some_and(|m| !m.is_empty())
                    })
                })
                .map(|place| {
                    map.with(place, |value| {
                        value["properties"][name] = json!({"type": "boolean"});
                        let mut required =
                            value["required"].as_array().cloned().unwrap_or_default();
                        required.push(json!(name));
                        value["required"] = json!(required);
                    })
                })
                .collect()
        }),
        op("answer number became text", true, |map, _| {
            map.each(false, |place, schema| {
                (matches!(kind(schema), "number" | "integer") && schema.get("enum").is_none()).then(
                    || {
                        map.with(place, |value| {
                            *value = json!({"type": "string", "pattern": "^[0-9]+$"})
                        })
                    },
                )
            })
        }),
        op("request field became read-only", true, |map, _| {
            map.members(true, |place, name, member, required| {
                (!required
                    && member.get("readOnly") != Some(&json!(true))
                    && member.get("$ref").is_none())
                .then(|| {
                    map.with(place, |value| value["properties"][name]["readOnly"] = json!(true))
                })
            })
        }),
        op("answer enum value removed", false, |map, _| {
            map.each(false, |place, schema| {
                schema["enum"]
                    .as_array()
                    .filter(|list| list.len() > 2 && schema.get("default").is_none())?;
                Some(map.with(place, |value| {
                    value["enum"].as_array_mut().expect("a list").remove(0);
                }))
            })
        }),
        op("answer field no longer nullable", false, |map, _| {
            map.each(false, |place, schema| {
                (schema["nullable"] == true && schema.get("enum").is_none())
                    .then(|| map.with(place, |value| value["nullable"] = json!(false)))
            })
        }),
        op("answer format removed", false, |map, _| {
            map.each(false, |place, schema| {
                schema.get("format")?;
                Some(map.with(place, |value| {
                    value.as_object_mut().expect("an object").shift_remove("format");
                }))
            })
        }),
        op("request maximum raised", false, |map, _| {
            map.each(true, |place, schema| {
                let now = schema["maximum"].as_i64()?;
                Some(map.with(place, |value| value["maximum"] = json!(now * 5)))
            })
        }),
        op("answer dependency added", false, |map, _| {
            if map.is_30() {
                return Vec::new();
            }
            map.only(false)
                .into_iter()
                .filter_map(|place| {
                    let names = map.keys(&format!("{place}/properties"));
                    let (a, b) = (names.first()?, names.get(1)?);
                    Some(map.with(place, |value| value["dependentRequired"] = json!({a: [b]})))
                })
                .collect()
        }),
        op("answer object closed", false, |map, _| {
            map.each(false, |place, schema| {
                (schema.get("properties").is_some() && schema.get("additionalProperties").is_none())
                    .then(|| map.with(place, |value| value["additionalProperties"] = json!(false)))
            })
        }),
        op("answer list never empty", false, |map, _| {
            map.each(false, |place, schema| {
                (kind(schema) == "array"
                    && schema.get("minItems").is_none()
                    && schema.get("maxItems") != Some(&json!(0)))
                .then(|| map.with(place, |value| value["minItems"] = json!(1)))
            })
        }),
        op("example changed", false, |map, _| {
            map.each(false, |place, schema| {
                (kind(schema) == "string")
                    .then(|| map.with(place, |value| value["example"] = json!("another one")))
            })
        }),
    ]
}
